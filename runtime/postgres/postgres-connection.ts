import { Socket } from 'node:net';
import pg, { type Client, type Submittable } from 'pg';
import { loopTime } from '../concurrency/loop-time.js';
import { time } from '../concurrency/time.js';
import { messageOf } from '../errors.js';
import { answered, type DriverFailure } from '../sharding/driver-failure.js';
import type { RunnableConnection, RunOptions } from '../sharding/pooled-connection.js';
import type { NotificationListener, Rows, Statement } from '../sharding/shard-database.js';
import { isStalePlan } from '../sharding/sql-state.js';
import { inFlight, isUnreplicated, NoAnswerInTime, notSent, unreplicated } from './failures.js';
import { type BackendKey, type ConnectionLimits, leaveServer } from './leave-server.js';
import { PlanMode, type SessionMode } from './plan-mode.js';
import { PoolerClient, type PoolerMode } from './pooler-mode.js';
import { type Prepared, type RunOutcome, StatementRun, type Unreadable, unnamed } from './statement-run.js';

export interface PostgresConnectionOptions extends ConnectionLimits {
  /** Absent: the connection has its own server session. */
  readonly pooler?: PoolerMode | undefined;
  /** Host, port and database, for messages. */
  readonly description: string;
  /** Called once when an open connection is lost, whether idle or in use. */
  readonly onLost: (connection: PostgresConnection) => void;
}

/** A caller that waits for an answer. */
interface Caller {
  readonly options: RunOptions<PostgresConnection>;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (failure: unknown) => void;
}

/** A statement in flight and its caller. */
interface Call {
  readonly caller: Caller;
  /** Absent: a script. */
  readonly sent:
    | { readonly statement: Statement; readonly run: StatementRun; readonly prelude?: string | undefined }
    | undefined;
}

/** No statement is pipelined behind a call of this duration, which probably waits for a lock, in milliseconds. */
const FOLLOWED_FOR_MS = 50;

/** The result of a script. */
const NO_ROWS: Rows = { columns: [], rows: [], command: '', rowCount: 0 };

/** `read_only_sql_transaction` */
const READ_ONLY = '25006';
/** `SET TRANSACTION` must precede the first query, so the limits follow these statements. */
const BEGIN = /^\s*(?:begin|start\s+transaction)\b/i;

/** One connection to a PostgreSQL server, on a client of node-postgres. */
export class PostgresConnection implements RunnableConnection<PostgresConnection> {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #options: PostgresConnectionOptions;
  readonly #prepared: Map<string, Prepared> = new Map();
  readonly #mode: SessionMode;
  #usable = false;
  /** Whether it must be closed when its calls have ended. */
  #isWorn = false;
  #call: Call | undefined;
  /** Start of the current call's execution, after earlier ones ended, on the clock of `time.nowMs()`. */
  #callSince = 0;
  /** The call behind the current one. */
  #next: Call | undefined;
  /** The server's refusal of the current call. It is final when the server is ready again. */
  #refusal: pg.DatabaseError | undefined;
  /** The server's warning that the current call is committed locally and perhaps on no standby. */
  #warning: string | undefined;
  #backendKey: BackendKey | undefined;
  /** Resolves when the server's side of an abandoned connection is closed. */
  #gone: Promise<void> | undefined;
  #listener: NotificationListener | undefined;

  readonly #outcome: RunOutcome = {
    answered: (rows, unreadable) => this.#answered(rows, unreadable),
    next: () => this.#ready(),
    failed: (error) => this.#failed(error),
  };

  private constructor(options: PostgresConnectionOptions) {
    this.#options = options;
    this.#mode = options.pooler ?? new PlanMode();
    this.#socket = new Socket();
    // This package creates the socket, so that it can destroy it in any state of the client.
    const config = { ...options.config, stream: () => this.#socket };
    this.#client =
      options.pooler === undefined
        ? new pg.Client(config)
        : new PoolerClient(config, options.pooler.startupParameters);
    // Stays for the client's lifetime: without an error listener, a lost connection would end the process.
    this.#client.on('error', (error) => this.#lost(error));
    this.#client.on('end', () => this.#lost(new Error('Connection terminated')));
    this.#client.on('drain', () => this.#ready());
    this.#client.on('notice', (notice) => {
      if (this.#call !== undefined && isUnreplicated(notice)) this.#warning = notice.message ?? 'warning';
    });
    this.#client.on('notification', ({ payload }) => this.#listener?.onNotification(payload ?? ''));
    this.#client.connection.on('backendKeyData', (key: BackendKey) => {
      this.#backendKey = key;
    });
    this.#client.connection.on('parseComplete', () => this.#parsed());
  }

  /** @throws DriverFailure with phase `not-sent` and reason `unreachable` */
  static async open(options: PostgresConnectionOptions): Promise<PostgresConnection> {
    return await new PostgresConnection(options).#connect();
  }

  get usable(): boolean {
    return this.#usable && this.#socket.writable;
  }

  get deadlineAt(): number {
    return Math.min(deadlineOf(this.#call), deadlineOf(this.#next));
  }

  get inTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I';
  }

  /** Sends one statement. The connection must not have a call in flight. */
  run(statement: Statement, options: RunOptions<PostgresConnection>): Promise<Rows> {
    const { afterBegin } = this.#mode;
    if (afterBegin !== undefined && statement.name === undefined && BEGIN.test(statement.text)) {
      return this.script(`${statement.text}; ${afterBegin}`, options);
    }
    const sent = this.#options.pooler?.named === false ? unnamed(statement) : statement;
    return new Promise((resolve, reject) => this.#startRun(sent, { options, resolve, reject }));
  }

  /** Only prepared statements follow. If the connection is lost, both are in doubt. */
  follow(statement: Statement, options: RunOptions<PostgresConnection>): Promise<Rows> | undefined {
    const prepared = this.#isFollowableBy(options) ? this.#prepared.get(statement.name ?? '') : undefined;
    if (prepared?.shape === undefined || prepared.text !== statement.text) return undefined;
    if (this.#mode.preludeOf(statement, false) !== undefined) return undefined;
    return new Promise((resolve, reject) => {
      const manner = { prepared, prelude: undefined, isTimed: options.onCommit !== undefined };
      const run = new StatementRun(statement, manner, this.#outcome);
      run.send(this.#client.connection);
      this.#start({ caller: { options, resolve, reject }, sent: { statement, run } }, run);
    });
  }

  #isFollowableBy({ pipeline }: RunOptions<PostgresConnection>): boolean {
    if (pipeline === undefined || this.#call?.caller.options.pipeline !== pipeline) return false;
    if (this.#next !== undefined || this.#refusal !== undefined) return false;
    if (!this.usable || this.#isWorn || this.#options.pooler !== undefined) return false;
    return time.nowMs() - this.#callSince < FOLLOWED_FOR_MS;
  }

  /** Sends several statements without parameters. The connection must not have a call in flight. */
  script(sql: string, options: RunOptions<PostgresConnection>): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const caller = { options, resolve, reject };
      const run = new pg.Query(sql, (error) =>
        error === null || error === undefined ? this.#answered(NO_ROWS) : this.#failed(error),
      );
      this.#start({ caller, sent: undefined }, run);
    });
  }

  expire(): void {
    this.#abandon(new NoAnswerInTime());
  }

  /** Sets the listener for notifications and for the end of the connection. Undefined: none. */
  notify(listener: NotificationListener | undefined): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    this.#usable = false;
    this.#client.end().catch(() => {});
    if (this.#socket.destroyed) return;
    await new Promise<void>((resolve) => {
      // The other end of a half-open connection never closes it.
      const timer = time.setTimeout(() => this.#socket.destroy(), this.#options.connectTimeoutMs);
      this.#socket.once('close', () => {
        time.clearTimeout(timer);
        resolve();
      });
    });
  }

  destroy(): Promise<void> | undefined {
    this.#abandon(new Error('Connection destroyed'));
    return this.#gone;
  }

  #connect(): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        cancel();
        this.#socket.destroy();
        reject(notSent(`${this.#options.description}: cannot connect: ${messageOf(error)}`, error));
      };
      const { connectTimeoutMs } = this.#options;
      // Opening takes several answers, each of which waits for the event loop.
      const cancel = loopTime.after(connectTimeoutMs, () =>
        fail(new Error(`no answer within ${connectTimeoutMs} ms`)),
      );
      this.#client.connect((error: Error | null) => {
        if (error !== null && error !== undefined) {
          fail(error);
          return;
        }
        cancel();
        this.#usable = true;
        resolve(this);
      });
    });
  }

  #startRun(statement: Statement, caller: Caller): void {
    const prelude = this.#mode.preludeOf(statement, this.inTransaction);
    let run: StatementRun;
    try {
      const prepared = this.#preparedFor(statement);
      const isTimed = caller.options.onCommit !== undefined && this.#options.pooler === undefined;
      run = new StatementRun(statement, { prepared, prelude, isTimed }, this.#outcome);
    } catch (error) {
      // For example, a value that cannot be encoded. Nothing has been written.
      this.#giveBack(caller);
      caller.reject(error);
      return;
    }
    this.#start({ caller, sent: { statement, run, prelude } }, run);
  }

  #start(call: Call, run: Submittable): void {
    if (!this.usable) {
      this.#giveBack(call.caller);
      call.caller.reject(notSent(`${this.#options.description}: the connection was lost`, undefined));
      return;
    }
    if (this.#call !== undefined) this.#next = call;
    else this.#comesFirst(call);
    try {
      this.#client.query(run);
    } catch (error) {
      this.#lost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #preparedFor(statement: Statement): Prepared | undefined {
    if (statement.name === undefined) return undefined;
    const prepared = this.#prepared.get(statement.name);
    if (prepared !== undefined && prepared.text !== statement.text) {
      throw new TypeError(`The statement name ${statement.name} is already used for another text`);
    }
    return prepared;
  }

  #parsed(): void {
    const { statement, run } = this.#call?.sent ?? {};
    if (statement?.name === undefined || run?.inPrelude === true) return;
    this.#prepared.set(statement.name, { text: statement.text, shape: undefined });
  }

  #answered(rows: Rows, unreadable?: Unreadable): void {
    this.#reportTimes();
    const doubt = this.#doubt();
    const call = this.#endCall();
    if (call === undefined) return;
    this.#rememberShape(call);
    this.#mode.committed(call.sent?.prelude);
    const { options, resolve, reject } = call.caller;
    if (options.release !== undefined && this.inTransaction) {
      this.destroy();
      options.release(this);
      reject(new TypeError('A statement outside of a session must not open a transaction'));
      return;
    }
    this.#giveBack(call.caller);
    if (doubt !== undefined) reject(doubt);
    else if (unreadable !== undefined) reject(unreadable.error);
    else resolve(rows);
  }

  /** A failover may undo a commit that the server has acknowledged with a warning. */
  #doubt(): DriverFailure | undefined {
    const warning = this.#warning;
    this.#warning = undefined;
    return warning === undefined ? undefined : unreplicated(this.#options.description, warning);
  }

  /** The commit is the time between execution and answer. */
  #reportTimes(): void {
    const { caller, sent } = this.#call ?? {};
    const executedAt = sent?.run.result.executedAt;
    if (executedAt === undefined) return;
    caller?.options.onCommit?.(executedAt - this.#callSince, time.nowMs() - executedAt);
  }

  #rememberShape({ sent }: Call): void {
    if (sent?.statement.name === undefined) return;
    const prepared = this.#prepared.get(sent.statement.name);
    if (prepared !== undefined) prepared.shape ??= sent.run.result.shape;
  }

  /** After an error the server becomes ready again; after a fatal one it disconnects. This waits for either. */
  #failed(error: Error): void {
    if (error instanceof pg.DatabaseError) this.#refusal = error;
    else this.#lost(error);
  }

  /** The server is ready for the next statement. */
  #ready(): void {
    const refusal = this.#refusal;
    if (refusal === undefined) return;
    this.#refusal = undefined;
    const doubt = this.#doubt();
    // A demoted server stays read-only; a new connection may reach its successor.
    if (refusal.code === READ_ONLY) this.#isWorn = true;
    const call = this.#endCall();
    if (call === undefined) return;
    const { caller, sent } = call;
    if (isStalePlan(refusal) && sent?.statement.name !== undefined && caller.options.release !== undefined) {
      // The statement was refused before it had an effect, so it is sent again, unnamed. The connection's prepared
      // statements are unusable, so no other caller gets the connection.
      this.#isWorn = true;
      this.#startRun(unnamed(sent.statement), caller);
      return;
    }
    this.#giveBack(caller);
    // A procedure may have committed before it was refused.
    caller.reject(doubt ?? answered(refusal));
  }

  /** The last caller releases the connection. */
  #giveBack({ options }: Caller): void {
    if (this.#call !== undefined) return;
    if (this.#isWorn) this.#usable = false;
    options.release?.(this);
  }

  #endCall(): Call | undefined {
    const call = this.#call;
    this.#call = undefined;
    if (this.#next !== undefined) this.#comesFirst(this.#next);
    this.#next = undefined;
    return call;
  }

  #comesFirst(call: Call): void {
    this.#call = call;
    this.#callSince = time.nowMs();
  }

  /** Discards a connection that still works but whose server may be busy for a while. */
  #abandon(error: Error): void {
    // A worn connection is no longer usable, although its socket is open.
    if (this.#gone === undefined && !this.#socket.destroyed) {
      const text = this.#call?.sent?.statement.text;
      const elapsedMs = this.#call === undefined ? 0 : time.nowMs() - this.#callSince;
      const { stream } = this.#client.connection;
      const abandoned = { socket: this.#socket, stream, key: this.#backendKey, text, elapsedMs };
      this.#gone = leaveServer(abandoned, this.#options);
    }
    this.#fail(error);
  }

  #lost(error: Error): void {
    this.#socket.destroy();
    this.#fail(error);
  }

  #fail(error: Error): void {
    const wasUsable = this.#usable;
    this.#usable = false;
    const calls = [this.#endCall(), this.#endCall()];
    const refusal = this.#refusal;
    this.#refusal = undefined;
    if (wasUsable) {
      this.#options.onLost(this);
      this.#listener?.onLost();
    }
    const message = `${this.#options.description}: ${error.message}`;
    // The server's refusal concerns the first call.
    for (const [index, call] of calls.entries())
      call?.caller.reject(inFlight(message, error, index === 0 ? refusal : undefined));
  }
}

function deadlineOf(call: Call | undefined): number {
  return call?.caller.options.deadlineAt ?? Number.POSITIVE_INFINITY;
}
