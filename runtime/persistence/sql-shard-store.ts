import { memoize } from '../collections/memoize.js';
import type { NaturalKey } from '../domain/descriptor.js';
import { type Entity, type ModelDescriptor, noteRevision } from '../domain/entity.js';
import { instantText } from '../domain/kinds/instant-kind.js';
import { NIL_UUID } from '../domain/uuid.js';
import { ValidationError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { INTERNAL_ACCESS } from '../sharding/internal-access.js';
import { PackedArray } from '../sharding/packed-array.js';
import type { CallOptions, NamedText, ShardDatabase, Statement } from '../sharding/shard-database.js';
import type { AttemptOutcome } from './attempt-outcome.js';
import { uuidArray } from './codec/column-codec.js';
import type { EventCatalog } from './codec/event-catalog.js';
import { RowCodec } from './codec/row-codec.js';
import { quoteIdentifier } from './codec/sql-identifier.js';
import { keyStatement } from './read/key-lookup.js';
import { KeyReader } from './read/key-reader.js';
import {
  type FlushOutcome,
  type FlushRequest,
  OversizedFlush,
  type RecordedAttempt,
  type ShardStore,
  type WriteGroup,
} from './shard-store.js';
import { ACTIONS, afterMs, insertInto, KEYS } from './write/eventlog-tables.js';
import { type FlushOrigin, flushStatement } from './write/flush-statement.js';
import type { KeyClaim, KeyName, KeyRecord } from './write/idempotency-key.js';
import type { ActionRow } from './write/plan-write.js';
import { REPLICATION_WAIT } from './write/replication-wait.js';
import { ALL_APPLIED } from './write/statement-form.js';

/** The `ShardStore` of a PostgreSQL database, embedded or not. */
export class SqlShardStore implements ShardStore {
  readonly #database: ShardDatabase;
  readonly #origin: FlushOrigin;
  readonly #flushed: (groups: readonly WriteGroup[]) => void;
  readonly #keys: KeyReader;

  /** @param flushed called with the request after each flush that applied a group */
  constructor(
    database: ShardDatabase,
    namespace: string,
    events: EventCatalog,
    flushed: (groups: readonly WriteGroup[]) => void = () => {},
  ) {
    this.#flushed = flushed;
    this.#keys = new KeyReader(database);
    this.#database = database;
    this.#origin = { shard: database.shard, namespace, events };
  }

  async flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]> {
    const { groups } = request;
    const [applied, revision] = await this.#run(request, options);
    const result = outcomes(groups.length, applied);
    if (applied === '') return result;
    groups.forEach((group, index) => {
      if (result[index] === 'applied') noteRevisions(group, revision);
    });
    this.#flushed(groups);
    return result;
  }

  /** The groups that were applied, and the transaction; a fenced single plan is not among them. */
  async #run(request: FlushRequest, options?: CallOptions): Promise<readonly [string, string]> {
    const statement = flushStatement(request, this.#origin);
    requireSize(request, statement);
    try {
      // A statement that waits for locks would delay those behind it in the pipeline.
      const pipeline = request.locked === 'wait' ? undefined : this;
      const limits = { ...options, pipeline, access: INTERNAL_ACCESS } as const;
      const { rows } = await this.#database.query(statement, limits);
      const [applied, revision] = rows[0] ?? [];
      return [String(applied ?? ''), String(revision)];
    } catch (error) {
      const isSingle = request.groups.length === 1 && request.groups[0]?.length === 1;
      if (isSingle && isFenced(error)) return ['', ''];
      throw error;
    }
  }

  read<M extends Entity>(
    model: ModelDescriptor<M>,
    ids: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]> {
    const codec = RowCodec.of(model);
    return this.#models(codec, readStatement(codec, ids), options);
  }

  readByKey<M extends Entity>(
    model: ModelDescriptor<M>,
    key: NaturalKey,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]> {
    const texts = keys.map((each): readonly string[] => JSON.parse(each));
    return this.#models(RowCodec.of(model), keyStatement(model, key, texts), options);
  }

  async #models<M extends Entity>(
    codec: RowCodec<M>,
    statement: Statement,
    options?: CallOptions,
  ): Promise<readonly M[]> {
    const { rows } = await this.#database.query(statement, { ...options, access: INTERNAL_ACCESS });
    return rows.map((row) => codec.decode(row));
  }

  async fence(action: Omit<ActionRow, 'params'>, options?: CallOptions): Promise<AttemptOutcome> {
    const { id, name, principal, startedDate, completedDate } = action;
    const dates = [instantText(startedDate), instantText(completedDate)];
    const values = [id, this.#origin.namespace, name, principal, ...dates];
    const { rowCount } = await this.#database.query({ ...FENCE, values }, options);
    if (rowCount > 0) return 'void';
    return (await this.readAttempt(id, options)).outcome ?? 'void';
  }

  async readAttempt(actionId: string, options?: CallOptions): Promise<RecordedAttempt> {
    const { rows } = await this.#database.query({ ...RECALL, values: [actionId] }, options);
    const [status, completeFrom] = rows[0] ?? [];
    return {
      outcome: status === 'committed' || status === 'void' ? status : undefined,
      completeFrom: completeFrom instanceof Date ? completeFrom : undefined,
    };
  }

  readKey(name: KeyName, options?: CallOptions): Promise<KeyRecord | undefined> {
    return this.#keys.read(name, options);
  }

  async claimKey(claim: KeyClaim, actionId: string, options?: CallOptions): Promise<boolean> {
    const { fingerprint, target, keepMs } = claim;
    const values = [...keyValues(claim), fingerprint, actionId, target.group, target.member, keepMs];
    const { rowCount } = await this.#database.query({ ...CLAIM_KEY, values }, options);
    return rowCount > 0;
  }

  async releaseKey(name: KeyName, actionId: string | undefined, options?: CallOptions): Promise<void> {
    await this.#database.query({ ...RELEASE_KEY, values: [...keyValues(name), actionId ?? null] }, options);
  }

  async purgeKeys(limit: number, options?: CallOptions): Promise<number> {
    const { rowCount } = await this.#database.query({ ...PURGE_KEYS, values: [limit] }, options);
    return rowCount;
  }
}

/** Inserts the row unless the attempt's own exists. Waits for a transaction that is about to write it. */
const FENCE = {
  name: 'fw_fence',
  text: `${insertInto(ACTIONS, {
    id: '$1',
    status: "'void'",
    namespace: '$2',
    name: '$3',
    principal: '$4',
    started_date: '$5',
    completed_date: '$6',
  })} ON CONFLICT DO NOTHING RETURNING id`,
};

const RECALL = {
  name: 'fw_recall',
  text:
    `SELECT status, until, CASE WHEN status IS NOT NULL THEN ${REPLICATION_WAIT} END FROM (` +
    'SELECT (SELECT status FROM eventlog.actions WHERE id = $1) AS status, ' +
    "(SELECT max(dropped_until) FROM eventlog.dropped_partitions WHERE table_name = 'actions') AS until OFFSET 0) AS r",
};

/**
 * A claim for the same request and target joins the existing one, which then belongs to no single attempt: while one
 * attempt is refused and releases its claim, the plan of the other may be in progress.
 */
const CLAIM_KEY = {
  name: 'fw_claim_key',
  text:
    insertInto(
      KEYS,
      {
        principal: '$1',
        operation: '$2',
        key: '$3',
        fingerprint: '$4',
        action_id: '$5',
        target_group: '$6',
        target_member: '$7',
        created_date: 'now()',
        expires_date: afterMs('$8::bigint'),
      },
      'k',
    ) +
    ' ON CONFLICT (principal, operation, key) DO UPDATE SET fingerprint = excluded.fingerprint, ' +
    'action_id = CASE WHEN k.expires_date <= now() OR k.action_id = excluded.action_id THEN excluded.action_id ' +
    `ELSE '${NIL_UUID}' END, ` +
    'target_group = excluded.target_group, target_member = excluded.target_member, ' +
    'result = NULL, created_date = excluded.created_date, expires_date = excluded.expires_date ' +
    'WHERE k.expires_date <= now() OR (k.fingerprint = excluded.fingerprint AND ' +
    'k.target_group = excluded.target_group AND k.target_member = excluded.target_member)',
};

const RELEASE_KEY = {
  name: 'fw_release_key',
  text:
    'DELETE FROM eventlog.idempotency_keys WHERE principal = $1 AND operation = $2 AND key = $3 ' +
    'AND (action_id = $4 OR expires_date <= now())',
};

/**
 * Deletes by row address (ctid), which the row lock keeps stable: a join by key would scan the whole table per batch.
 */
const PURGE_KEYS = {
  name: 'fw_purge_keys',
  text:
    'DELETE FROM eventlog.idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM eventlog.idempotency_keys ' +
    'WHERE expires_date <= now() ORDER BY expires_date LIMIT $1 FOR UPDATE SKIP LOCKED))',
};

function keyValues({ principal, operation, key }: KeyName): readonly string[] {
  return [principal, operation, key];
}

let readTextCount = 0;

/** A single id has its own text, because the planner estimates an equality best. */
const readTexts = memoize((codec: RowCodec): { readonly one: NamedText; readonly many: NamedText } => {
  const columns = codec.columns.map(({ descriptor }) => quoteIdentifier(descriptor.column)).join(', ');
  const select = `SELECT ${columns}, xmin FROM ${quoteIdentifier(codec.model.table)} WHERE id = `;
  readTextCount += 1;
  return {
    one: { name: `fw_read_${readTextCount}`, text: `${select}$1` },
    many: { name: `fw_reads_${readTextCount}`, text: `${select}ANY ($1::uuid[])` },
  };
});

function readStatement(codec: RowCodec, ids: readonly string[]): Statement {
  const { one, many } = readTexts(codec);
  const { text, name } = ids.length === 1 ? one : many;
  return { text, name, values: ids.length === 1 ? ids : [uuidArray(ids)] };
}

/** How many times larger a single plan may be than a statement of several. A larger one would exceed its time limit. */
const SINGLE_FACTOR = 4;

/** @throws OversizedFlush @throws ValidationError for a single group, which the writer refuses or splits into plans */
function requireSize({ groups, maximumCharacters = Infinity }: FlushRequest, { values }: Statement): void {
  const size = values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
  if (size <= maximumCharacters) return;
  if (groups.length > 1) throw new OversizedFlush(`${size} characters in one statement`);
  const most = SINGLE_FACTOR * maximumCharacters;
  if (size <= most) return;
  throw new ValidationError(
    `The plan writes ${size} characters, with its params and events; at most ${most} fit into a statement. Store less ` +
      'in the model, or raise `writing.maximumCharacters`',
  );
}

function sizeOf(value: unknown): number {
  if (value instanceof PackedArray) return value.bytes.length;
  return typeof value === 'string' ? value.length : 0;
}

const UNIQUE_VIOLATION = '23505';

/** Whether the action's row already existed, in any partition. */
function isFenced(error: unknown): boolean {
  if (!(error instanceof DriverFailure) || error.phase !== 'answered') return false;
  if (error.sqlState !== UNIQUE_VIOLATION) return false;
  return error.schema === 'eventlog' && error.table?.startsWith('actions') === true;
}

/** The last state of each row is the stored one; no version check accepts an earlier one. */
function noteRevisions(group: WriteGroup, revision: string): void {
  for (const { items } of group)
    for (const { kind, model } of items) if (kind !== 'expect') noteRevision(model, revision);
}

/** `applied` lists group numbers from 1, separated by commas. */
function outcomes(count: number, applied: string): FlushOutcome[] {
  if (applied === ALL_APPLIED) return new Array<FlushOutcome>(count).fill('applied');
  const result = new Array<FlushOutcome>(count).fill('left-out');
  if (applied === '') return result;
  for (const group of applied.split(',')) result[Number(group) - 1] = 'applied';
  return result;
}
