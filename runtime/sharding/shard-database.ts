import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { INTERNAL_ACCESS } from './internal-access.js';

/** One SQL statement with its parameters. */
export interface Statement {
  readonly text: string;
  /**
   * Values for `$1`...: `string`, `number`, `boolean`, `null`, `PackedArray`; anything else is turned to text by the
   * caller.
   */
  readonly values: readonly unknown[];
  /**
   * Name of a prepared statement: the server parses the text once per connection. One name means one text for the
   * life of the process. Absent: unnamed.
   */
  readonly name?: string;
}

/**
 * What a statement returned. Both adapters give the same JavaScript values: `boolean` -> boolean, `int2/int4/oid` and
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

/** Where a call stands that has to wait for a connection. Filled in by the database. */
export interface Place {
  /** Ends the wait: the call fails as never sent. Absent before it begins and once the statement is sent. */
  leave?: (() => void) | undefined;
}

/** Limits of one call. Past a limit the call fails with a `DriverFailure`, and a client in doubt is destroyed. */
export interface CallOptions {
  /**
   * Milliseconds from now until the answer must be there, waiting for a connection included. Default: the data source's
   * statement time-out.
   */
  readonly timeoutMs?: number;
  /** Honoured until the statement is sent; a statement that is under way is waited for. */
  readonly signal?: AbortSignal;
  /**
   * Lets the caller see whether the call still waits, and take it back.
   *
   * @internal
   */
  readonly place?: Place;
  /**
   * Statements with one and the same object here may be sent one behind the other on one connection, without waiting
   * for the answer in between: the server runs one after the other, each in a transaction of its own. If the connection
   * is lost, all of them are in doubt. Default: a statement has its connection to itself.
   *
   * @internal
   */
  readonly pipeline?: object;
  /**
   * Only of the runtime's own calls: they are allowed inside `perform`.
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
  /** Gives the connection back. Calls after the first have no effect. */
  release(): void;
  /** Closes the connection because its state is in doubt. Calls after the first have no effect. */
  destroy(): void;
}

/** What the pool of one database is doing. */
export interface PoolStats {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
  /** Connections that listen, not counted as open. Default 0. */
  readonly listening?: number;
  /** Connections that were given up while the server was at work, and that still count. Default 0. */
  readonly leaving?: number;
  /** Whether calls are let through, where a circuit breaker decides. */
  readonly circuit?: 'closed' | 'open' | 'half-open';
}

/** The callbacks of a subscriber. */
export interface NotificationListener {
  readonly onNotification: (payload: string) => void;
  /** The subscription is gone for good, and what was sent since may have been missed. Called once. */
  readonly onLost: () => void;
}

/** Listens to one channel until it is closed. */
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
   * Whether a held session is one session of the server: its settings, session locks and temporary tables last. Through
   * a pooler in transaction mode nothing outlasts a transaction.
   */
  readonly sessionState: boolean;
  /** Sends one statement on any free connection: its own transaction, committed when this resolves. */
  query(statement: Statement, options?: CallOptions): Promise<Rows>;
  /** Takes a connection out of the pool. */
  acquire(options?: CallOptions): Promise<ShardSession>;
  stats(): PoolStats;
  /**
   * Listens to a channel on a connection of its own, which counts as one of the pool's. Absent where it cannot be done.
   * Through a pooler in transaction mode that is not configured, it succeeds and nothing ever arrives.
   *
   * @throws DriverFailure if no connection can be opened, or the pool has none to spare
   */
  readonly listen?:
    | ((channel: string, listener: NotificationListener) => Promise<NotificationSubscription>)
    | undefined;
  /** Waits for what is in use up to `graceMs` (default 5,000), then closes everything. */
  close(graceMs?: number): Promise<void>;
}
