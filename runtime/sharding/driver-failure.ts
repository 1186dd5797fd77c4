/**
 * The progress of a call when it failed, which decides whether it may have been applied:
 *
 * - `not-sent`: nothing reached the server (no connection, pool exhausted, aborted while waiting).
 * - `in-flight`: it was sent and no answer came (connection lost, time-out). It may have been applied.
 * - `answered`: the server answered with an error; the statement was not applied.
 */
export type FailurePhase = 'not-sent' | 'in-flight' | 'answered';

/**
 * Why a call was never sent; or, only `deadline`, why it was abandoned in flight. `withheld`: this process has not put
 * the shard into service.
 */
export type FailureReason = 'unreachable' | 'withheld' | 'pool-exhausted' | 'deadline' | 'aborted' | 'closed';

/**
 * The error that every adapter throws for a failure of its driver. Internal: the executor converts it to public errors.
 */
export class DriverFailure extends Error {
  readonly phase: FailurePhase;
  /** Five characters, if the server answered. */
  readonly sqlState: string | undefined;
  /** Always with phase `not-sent`; `deadline` with `in-flight` if no answer came in time. */
  readonly reason: FailureReason | undefined;
  /** Schema of the table. */
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly constraint: string | undefined;
  /** Milliseconds after which a retry may succeed; undefined if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: Pick<DriverFailure, 'phase'> & Partial<Omit<DriverFailure, 'phase' | keyof Error>> & ErrorOptions,
  ) {
    super(message, { cause: facts.cause });
    this.name = 'DriverFailure';
    this.phase = facts.phase;
    this.sqlState = facts.sqlState;
    this.reason = facts.reason;
    this.schema = facts.schema;
    this.table = facts.table;
    this.constraint = facts.constraint;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The topology no longer lists the shard. Its database is closed. */
export class ShardRemovedFailure extends DriverFailure {
  constructor(shard: string) {
    super(`Shard ${shard} is no longer configured`, { phase: 'not-sent', reason: 'closed' });
    this.name = 'ShardRemovedFailure';
  }
}

/** The fields of an error message of the server, as both adapters parse them. */
export interface ServerError extends Error {
  readonly code: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly constraint: string | undefined;
  readonly routine: string | undefined;
}

/** The facts of a failure that the server has reported. */
export function factsOf(
  cause: ServerError,
): Pick<DriverFailure, 'sqlState' | 'schema' | 'table' | 'constraint' | 'cause'> {
  const { code: sqlState, schema, table, constraint } = cause;
  return { sqlState, schema, table, constraint, cause };
}

/** The server refused a statement. Use it only after the server has reported that it is ready again. */
export function answered(cause: ServerError): DriverFailure {
  return new DriverFailure(cause.message, { phase: 'answered', ...factsOf(cause) });
}
