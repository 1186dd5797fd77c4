import { type QueryExecutorProvider, sql } from 'kysely';
import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { Caller } from '../domain/principal.js';
import { storable } from '../domain/storable-text.js';
import { isTraceParent } from '../domain/trace-parent.js';
import { messageOf, RetryLater, ValidationError } from '../errors.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { inboxKey } from './inbox-key.js';
import type { ReceivedEvent } from './received-event.js';

/** The table of an inbox. */
export interface InboxTable {
  readonly source: string;
  readonly id: string;
  readonly received_date: Date;
}

/** What an inbox uses of a Kysely, whose class is another type in each version of its package. */
interface InboxSession {
  getExecutor(): unknown;
}

/** A database that starts transactions. */
interface InboxDatabase<Transaction> extends InboxSession {
  transaction(): { execute<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> };
}

/** Options of an inbox. */
interface InboxOptions<Transaction> {
  /** The consumer's own PostgreSQL: a `Kysely`. */
  readonly database: InboxDatabase<Transaction>;
  /** Default `inbox`. */
  readonly table?: string;
  /** Runs actions of this framework. Required for `execute`. */
  readonly executor?: ActionRunner;
  /** The acting principal. Required for `execute`. */
  readonly principal?: Caller;
}

/** The outcome of a message. */
export type Reception<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  /** The message was received before. */
  | { readonly kind: 'duplicate' };

const TABLE = /^[a-z_][a-z0-9_]{0,62}$/;
/** An entry of a B-tree has at most 2,704 bytes. */
const MOST_BYTES = 2_600;
/** Maximum length of an execution's idempotency key. */
const LONGEST_KEY = 255;

/** Records received messages in the transaction of their effects, so that a repetition has no effect. */
export class Inbox<Transaction extends InboxSession> {
  readonly #database: InboxDatabase<Transaction>;
  readonly #table: string;
  readonly #options: InboxOptions<Transaction>;

  /** @throws ValidationError for an invalid table name */
  constructor(options: InboxOptions<Transaction>) {
    const { database, table = 'inbox' } = options;
    if (!TABLE.test(table)) throw new ValidationError(`Invalid table name ${JSON.stringify(table)}`);
    this.#database = database;
    this.#table = table;
    this.#options = options;
  }

  /** Creates the table unless it exists. Your own migration may do so instead. */
  async createTable(): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      // Of two processes that create a table at the same time, one fails, also with `if not exists`.
      await sql`select pg_advisory_xact_lock(hashtextextended('fw:inbox', 0))`.execute(on(transaction));
      await sql`create table if not exists ${sql.table(this.#table)} (
        source text not null,
        id text not null,
        received_date timestamptz not null default now(),
        primary key (source, id))`.execute(on(transaction));
    });
  }

  /**
   * Does the work of a message once: its writes through the transaction commit together with the row that records the
   * message. A concurrent repetition waits for the first one.
   *
   * @throws errors of the work; then the message is not recorded
   * @throws ValidationError if source and id cannot be stored: they are longer than 2,600 bytes, or contain NUL or half
   *   of a surrogate pair
   * @throws RetryLater if the database is not available before the work
   */
  async once<Result>(
    { source, id }: Pick<ReceivedEvent, 'source' | 'id'>,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Reception<Result>> {
    requireStorable(source, id);
    let isAvailable = false;
    const received = this.#database.transaction().execute(async (transaction): Promise<Reception<Result>> => {
      const isNew = await this.#note(transaction, source, id);
      isAvailable = true;
      return isNew ? { kind: 'done', result: await work(transaction) } : { kind: 'duplicate' };
    });
    return received.catch((error) => (isAvailable ? Promise.reject(error) : unavailable(error)));
  }

  /**
   * Starts an action of this framework once for a message, with the event's id as its key. If the action has committed
   * and the process has died before recording the message, a repetition returns the first result, as long as keys are
   * stored (`fw.execution.key-retention-ms`).
   *
   * @throws ValidationError if the inbox has no executor and principal, or if source or id cannot be stored
   * @throws RetryLater if the database is not available before the action
   * @throws errors of the action; then the message is not recorded
   */
  async execute<Params, Result>(
    event: Pick<ReceivedEvent, 'source' | 'id' | 'traceContext'>,
    action: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
  ): Promise<Reception<Result>> {
    const { executor, principal } = this.#options;
    if (executor === undefined || principal === undefined)
      throw new ValidationError('An inbox needs an executor and a principal to start actions');
    const { source, id, traceContext } = event;
    requireStorable(source, id);
    if (await this.#has(source, id).catch(unavailable)) return { kind: 'duplicate' };
    const key = inboxKey(source, id);
    if (key.length > LONGEST_KEY)
      throw new ValidationError(`Source and id, escaped, are longer than ${LONGEST_KEY} characters`);
    const configuration = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(key);
    if (traceContext !== undefined && isTraceParent(traceContext)) configuration.traceContext(traceContext);
    const result = await executor.execute(principal, action, params, configuration.build());
    await this.#note(this.#database, source, id);
    return { kind: 'done', result };
  }

  /**
   * Deletes messages that were received before a time. A deleted message counts as new if it is sent again; brokers
   * repeat messages for a few days at most.
   */
  async purge(before: Date): Promise<number> {
    const { numAffectedRows } = await sql`delete from ${sql.table(this.#table)}
      where received_date < ${before}`.execute(on(this.#database));
    return Number(numAffectedRows ?? 0);
  }

  /** Records a message. False if it was recorded before. */
  async #note(session: InboxSession, source: string, id: string): Promise<boolean> {
    const { numAffectedRows } = await sql`insert into ${sql.table(this.#table)} (source, id)
      values (${source}, ${id}) on conflict do nothing`.execute(on(session));
    return Number(numAffectedRows ?? 0) > 0;
  }

  async #has(source: string, id: string): Promise<boolean> {
    const { rows } = await sql`select 1 from ${sql.table(this.#table)}
      where source = ${source} and id = ${id}`.execute(on(this.#database));
    return rows.length > 0;
  }
}

/** Statements of one version of Kysely run on the executor of another one, whose types alone differ. */
function on(session: InboxSession): QueryExecutorProvider {
  return session as QueryExecutorProvider;
}

/** The message is to be sent again: that the receiver is down is no reason to reject it. */
function unavailable(cause: unknown): never {
  throw new RetryLater({ message: `The inbox is not available: ${messageOf(cause)}`, cause });
}

/** Two ids that a database stores as the same text would be taken for one message. */
function requireStorable(source: string, id: string): void {
  storable(source, 'source');
  storable(id, 'id');
  if (Buffer.byteLength(source + id) > MOST_BYTES)
    throw new ValidationError(`Source and id have more than ${MOST_BYTES} bytes`, { field: 'id' });
}
