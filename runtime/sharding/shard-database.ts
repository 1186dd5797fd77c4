import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { INTERNAL_ACCESS } from './internal-access.js';

/** One SQL statement with its parameters. */
export interface Statement {
  readonly text: string;
  /**
   * Values for `$1`..., sent as text: a `Date` as ISO 8601, an array as an array literal, bytes as `bytea`, ids and
   * decimals by their `toString`, other objects as JSON. `undefined`, functions and symbols are a TypeError.
   */
  readonly values: readonly unknown[];
  /**
   * Name of a prepared statement: the server parses the text once per connection. A name must have one text for the
   * lifetime of the process. Absent: unnamed.
   */
  readonly name?: string;
}

/** A prepared statement without its values. */
export type NamedText = Required<Pick<Statement, 'text' | 'name'>>;

/**
 * The result of a statement. Both adapters return the same JavaScript values: `boolean` -> boolean, `int2/int4/oid` and
 * floats -> number, `timestamptz` -> Date, `json/jsonb` -> the parsed value, everything else (`int8`, `numeric`,
 * `uuid`, text...) -> string; arrays of built-in types -> array of such values.
 */
export interface Rows {
  /** Column names, in order. */
  readonly columns: readonly string[];
  /** Values by position. */
  readonly rows: readonly (readonly unknown[])[];
  /** The command tag's first word: `SELECT`, `INSERT`, `COMMIT`, `ROLLBACK`... */
  readonly command: string;
  /** Rows affected or returned; 0 where the command has none. */
  readonly rowCount: number;
}

/** The waiting call of a caller. The database sets its function. */
export interface Place {
  /** Ends the wait: the call fails as not sent. Absent before the wait begins and once the statement is sent. */
  leave?: (() => void) | undefined;
}

/** Limits of one call. At a limit the call fails with a `DriverFailure`, and a connection in doubt is destroyed. */
export interface CallOptions {
  /**
   * Milliseconds until the answer must arrive, including the wait for a connection. Default: the data source's
   * statement time-out.
   */
  readonly timeoutMs?: number;
  /** Honoured until the statement is sent; a statement in flight is not cancelled. */
  readonly signal?: AbortSignal;
  /**
   * Shows the caller whether the call still waits, and lets it cancel the wait.
   *
   * @internal
   */
  readonly place?: Place;
  /**
   * Statements with the same object here may be pipelined on one connection, without waiting for answers: the server
   * runs them one after the other, each in its own transaction. If the connection is lost, all of them are in doubt.
   * Default: a statement has its connection to itself.
   *
   * @internal
   */
  readonly pipeline?: object | undefined;
  /**
   * Marks the runtime's own calls, which are allowed inside `perform`.
   *
   * @internal
   */
  readonly access?: typeof INTERNAL_ACCESS;
}

/** One connection, held by one caller. */
export interface ShardSession {
  query(statement: Statement, options?: CallOptions): Promise<Rows>;
  /** Runs several statements without parameters, separated by semicolons (migrations). */
  script(sql: string, options?: CallOptions): Promise<void>;
  /** Returns the connection. Calls after the first have no effect. */
  release(): void;
  /** Closes the connection because its state is in doubt. Calls after the first have no effect. */
  destroy(): void;
}

/** Statistics of one database's pool. */
export interface PoolStats {
  /** Open connections, idle ones included. */
  readonly open: number;
  /** Open connections that no caller uses. */
  readonly idle: number;
  /** Callers waiting for a connection. */
  readonly waiting: number;
  /** Connections of subscriptions, not counted as open. Default 0. */
  readonly listening?: number;
  /** Connections that were discarded while the server was working, and that still count. Default 0. */
  readonly leaving?: number;
  /** State of the circuit breaker, if there is one. */
  readonly circuit?: 'closed' | 'open' | 'half-open';
}

/** The callbacks of a subscriber. */
export interface NotificationListener {
  readonly onNotification: (payload: string) => void;
  /** Called once when the subscription is lost; later notifications may have been missed. */
  readonly onLost: () => void;
}

/** A subscription to one channel, until it is closed. */
export interface NotificationSubscription {
  close(): Promise<void>;
}

/** One database of one shard. Implemented by `postgres/` and `pglite/`; opened lazily by the `DatabaseRegistry`. */
export interface ShardDatabase {
  readonly shard: ShardIdentifier;
  readonly kind: 'postgresql' | 'pglite';
  /** Host, port and database (or directory), for messages to operators. Never a user or password. */
  readonly description: string;
  /**
   * Whether settings, session locks and temporary tables last for a held session. Through a pooler in transaction mode,
   * state lasts for one transaction only.
   */
  readonly sessionState: boolean;
  /** Sends one statement on any free connection, as its own transaction, which is committed when this resolves. */
  query(statement: Statement, options?: CallOptions): Promise<Rows>;
  /** Takes a connection out of the pool. */
  acquire(options?: CallOptions): Promise<ShardSession>;
  stats(): PoolStats;
  /**
   * Listens to a channel on its own connection, which counts as one of the pool's. Absent if the adapter cannot listen.
   * Through an unconfigured pooler in transaction mode it succeeds, and no notification arrives.
   *
   * @throws DriverFailure if no connection can be opened, or the pool has no spare one
   * @internal
   */
  readonly listen?:
    | ((channel: string, listener: NotificationListener) => Promise<NotificationSubscription>)
    | undefined;
  /** Waits for connections in use up to `graceMs` (default 5,000), then closes all. */
  close(graceMs?: number): Promise<void>;
}
