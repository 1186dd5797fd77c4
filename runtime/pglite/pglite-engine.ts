import { messageOf } from '../errors.js';
import { answered, DriverFailure } from '../sharding/driver-failure.js';
import type { Rows, Statement } from '../sharding/shard-database.js';
import { isStalePlan } from '../sharding/sql-state.js';
import { parserFor, type ValueParser } from '../sharding/value-parsers.js';
import { encodeValues, parseRow, rowsOf } from '../sharding/wire-values.js';
import { type EngineWire, localWire, remoteWire } from './engine-wire.js';
import { loadPglite, type PgliteModule } from './load-pglite.js';
import { openFailure } from './open-failure.js';
import { openCluster } from './prepared-cluster.js';

/** `Z` */
const READY_FOR_QUERY = 0x5a;

/** The settings of our PostgreSQL sessions that have an effect on an embedded one. */
const SESSION_SETTINGS = "set TimeZone = 'UTC'; set DateStyle = 'ISO';";

/**
 * PostgreSQL compiled to WebAssembly, used through the wire protocol, so that prepared statements, values and command
 * tags equal those of a server. It runs in this thread: a statement, once begun, blocks the event loop until it ends.
 */
export class PgliteEngine {
  readonly #module: PgliteModule;
  readonly #wire: EngineWire;
  /** Texts of prepared statements, by name. */
  readonly #prepared: Map<string, string> = new Map();
  #transactionStatus = 'I';
  #broken: unknown;

  private constructor(module: PgliteModule, wire: EngineWire) {
    this.#module = module;
    this.#wire = wire;
  }

  /** @param directory absent: in memory @throws DriverFailure with the reason why it cannot be opened */
  static async open(directory: string | undefined): Promise<PgliteEngine> {
    // Loaded here, so that an application with only PostgreSQL servers does not load the WebAssembly.
    const module = await loadPglite();
    const database = await openCluster(module, directory).catch((error: unknown) => {
      throw openFailure(directory, error);
    });
    const engine = new PgliteEngine(module, localWire(database));
    await engine.script(SESSION_SETTINGS);
    return engine;
  }

  /** The engine that another process has open in a directory; undefined if that process offers no socket. */
  static async join(directory: string): Promise<PgliteEngine | undefined> {
    const module = await loadPglite();
    const wire = await remoteWire(directory);
    return wire === undefined ? undefined : new PgliteEngine(module, wire);
  }

  /** True while a transaction is open, even a failed one. */
  get inTransaction(): boolean {
    return this.#transactionStatus !== 'I';
  }

  /** True after a crash of the engine, which only a new engine replaces. */
  get broken(): boolean {
    return this.#broken !== undefined;
  }

  /** @throws DriverFailure */
  async run(statement: Statement): Promise<Rows> {
    const messages = Buffer.concat(this.#messagesFor(statement));
    try {
      return await this.#execute(messages, statement);
    } catch (error) {
      const refusal = error instanceof DriverFailure ? error.cause : undefined;
      const isStale = refusal instanceof this.#module.messages.DatabaseError && isStalePlan(refusal);
      if (statement.name === undefined || !isStale) throw error;
      await this.#forget(statement.name);
      if (this.inTransaction) throw error;
      return this.#execute(Buffer.concat(this.#messagesFor(statement)), statement);
    }
  }

  /** Several statements without parameters. @throws DriverFailure */
  script(sql: string): Promise<Rows> {
    const { serialize } = this.#module.protocol;
    return this.#execute(Buffer.concat([serialize.query(sql), serialize.copyFail(NO_COPY)]), undefined);
  }

  /** Clears the state of a session: its transaction, settings, locks and prepared statements. */
  async reset(): Promise<void> {
    if (this.inTransaction) await this.script('rollback');
    // The process that owns the engine clears the session.
    if (this.#wire.isRemote) return;
    await this.script('discard all');
    this.#prepared.clear();
    await this.script(SESSION_SETTINGS);
  }

  async close(): Promise<void> {
    await this.#wire.close();
  }

  /**
   * Runs messages, such as those of another process, and returns the answer without parsing it. The session must be
   * reset after those of another process.
   *
   * @throws DriverFailure if the engine has crashed
   */
  async exchange(bytes: Uint8Array): Promise<Uint8Array> {
    if (this.#broken !== undefined) throw brokenFailure('not-sent', this.#broken);
    try {
      const answer = await this.#wire.send(bytes);
      // Each answer ends with ReadyForQuery, whose last byte is the state of the transaction.
      const [kind, status] = [answer.at(-6), answer.at(-1)];
      if (kind !== READY_FOR_QUERY || status === undefined) throw truncated();
      this.#transactionStatus = String.fromCharCode(status);
      return answer;
    } catch (error) {
      // Not an answer of the database, but a crash of the engine, for example because it ran out of memory.
      this.#broken = error;
      if (!this.#wire.isRemote) throw brokenFailure('in-flight', error);
      const message = `The embedded database's server gave no answer: ${messageOf(error)}`;
      throw new DriverFailure(message, { phase: 'in-flight', cause: error });
    }
  }

  #messagesFor(statement: Statement): Uint8Array[] {
    const { serialize } = this.#module.protocol;
    const name = this.#wire.isRemote ? '' : (statement.name ?? '');
    const known = name === '' ? undefined : this.#prepared.get(name);
    if (known !== undefined && known !== statement.text) {
      throw new TypeError(`The statement name ${name} is already used for another text`);
    }
    const values = encodeValues(statement.values);
    return [
      ...(known === undefined ? [serialize.parse({ name, text: statement.text })] : []),
      serialize.bind({ statement: name, values }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
      serialize.copyFail(NO_COPY),
      serialize.sync(),
    ];
  }

  async #execute(bytes: Uint8Array, statement: Statement | undefined): Promise<Rows> {
    const answer = await this.exchange(bytes);
    const types = this.#module.messages;
    const fields: (readonly (string | null)[])[] = [];
    let columns: readonly string[] = [];
    let parsers: readonly ValueParser[] = [];
    let tag = '';
    let failure: DriverFailure | undefined;
    new this.#module.protocol.Parser().parse(answer, (message) => {
      if (message instanceof types.DataRowMessage) fields.push(message.fields);
      else if (message instanceof types.CommandCompleteMessage) tag = message.text;
      else if (message instanceof types.DatabaseError) failure ??= answered(message);
      else if (message instanceof types.RowDescriptionMessage) {
        columns = message.fields.map((field) => field.name);
        parsers = message.fields.map((field) => parserFor(field.dataTypeID));
      } else if (message.name === 'parseComplete') this.#remember(statement);
    });
    const saysNothing = statement === undefined || NOTHING.test(statement.text);
    const isAnswered = failure !== undefined || tag !== '' || saysNothing;
    if (!isAnswered) {
      // A stack overflow, for example, ends a statement at any point, and the engine would continue in an undefined
      // state.
      this.#broken = truncated();
      throw brokenFailure('in-flight', this.#broken);
    }
    if (failure !== undefined) throw failure;
    if (statement === undefined) return rowsOf(tag, [], []);
    return rowsOf(
      tag,
      columns,
      fields.map((row) => parseRow(row, parsers)),
    );
  }

  async #forget(name: string): Promise<void> {
    this.#prepared.delete(name);
    const { serialize } = this.#module.protocol;
    await this.#execute(Buffer.concat([serialize.close({ type: 'S', name }), serialize.sync()]), undefined);
  }

  #remember(statement: Statement | undefined): void {
    if (statement?.name !== undefined && !this.#wire.isRemote)
      this.#prepared.set(statement.name, statement.text);
  }
}

/** An empty statement, for example only a comment. An engine that has crashed may call any statement empty. */
const NOTHING = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*(?:(?!\*\/).)*\*\/)*$/s;

/** Follows each statement: COPY would read beyond the messages and crash the engine. It is ignored after any other one. */
const NO_COPY = 'COPY FROM STDIN is not supported';

function truncated(): Error {
  return new Error('The response was truncated');
}

function brokenFailure(phase: 'not-sent' | 'in-flight', cause: unknown): DriverFailure {
  const reason = phase === 'not-sent' ? 'unreachable' : undefined;
  return new DriverFailure('The embedded database has failed; restart the process', { phase, reason, cause });
}
