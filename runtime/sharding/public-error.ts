import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  AbortedError,
  ClosedError,
  ConstraintViolationError,
  DatabaseError,
  DeadlineExceededError,
  type FwError,
  RowBusyError,
  ShardBusyError,
  ShardUnavailableError,
  UniqueViolationError,
  UnknownShardError,
  ValidationError,
} from '../errors.js';
import { DriverFailure, type FailureReason, ShardRemovedFailure } from './driver-failure.js';
import { sqlStateMeaning } from './sql-state.js';

/**
 * The caller's error for a failure without effects: a failed read, or a write that was not sent or was answered with an
 * error. A write that was lost in flight must be settled first.
 */
export function publicError(failure: DriverFailure, shard: ShardIdentifier): FwError {
  const name = shard.toString();
  const cause = { cause: failure, ...retryAfter(failure) };
  if (failure instanceof ShardRemovedFailure) return new UnknownShardError(name);
  if (failure.sqlState !== undefined) {
    const isConnection = failure.phase === 'not-sent' && sqlStateMeaning(failure.sqlState) === 'other';
    if (isConnection) return new ShardUnavailableError(name, 'its database refuses the connection', cause);
    return answeredError(failure, failure.sqlState, name);
  }
  if (failure.phase === 'not-sent' && failure.reason !== undefined)
    return notSentError(failure.reason, name, cause);
  if (failure.reason === 'deadline')
    return new DeadlineExceededError(`Shard ${name} did not answer in time`, cause);
  return new ShardUnavailableError(name, 'the connection was lost', cause);
}

/**
 * Calls a shard for an application or an operator: the failure of its driver becomes the caller's error. Not for writes
 * whose loss in flight matters.
 */
export async function callShard<T>(shard: ShardIdentifier, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof DriverFailure ? publicError(error, shard) : error;
  }
}

interface Cause extends ErrorOptions {
  readonly retryAfterMs?: number;
}

function retryAfter({ retryAfterMs }: DriverFailure): Pick<Cause, 'retryAfterMs'> {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

function notSentError(reason: FailureReason, shard: string, cause: Cause): FwError {
  switch (reason) {
    case 'unreachable':
      return new ShardUnavailableError(shard, 'its database cannot be reached', cause);
    case 'withheld':
      return new ShardUnavailableError(shard, 'this process has not put it into service', cause);
    case 'pool-exhausted':
      return new ShardBusyError(shard, 'no connection became free in time', cause);
    case 'deadline':
      return new DeadlineExceededError(
        `The deadline passed before anything was sent to shard ${shard}`,
        cause,
      );
    case 'aborted':
      return new AbortedError('The execution was aborted before anything was sent', cause);
    case 'closed':
      return new ClosedError(`The databases are closed (shard ${shard})`, cause);
  }
}

function answeredError(failure: DriverFailure, sqlState: string, shard: string): FwError {
  const { table, constraint } = failure;
  const facts = { cause: failure, table, constraint };
  const cause = { cause: failure, ...retryAfter(failure) };
  switch (sqlStateMeaning(sqlState)) {
    case 'unique':
      return new UniqueViolationError(
        `${place(failure)} already has a row with the same unique value`,
        facts,
      );
    case 'constraint':
      return new ConstraintViolationError(`A constraint refused the change of ${place(failure)}`, facts);
    case 'value':
      return new ValidationError('A value does not fit its column', { cause: failure });
    case 'locked':
      return new RowBusyError(`Shard ${shard}: a row is locked by another transaction`, { cause: failure });
    case 'transient':
      return new RowBusyError(`Shard ${shard}: the server cancelled a statement`, { cause: failure });
    case 'unavailable':
      return new ShardUnavailableError(shard, 'its database does not accept writes now', cause);
    case 'saturated':
      return new ShardBusyError(shard, 'its database has no resources to spare', cause);
    case 'other':
      return new DatabaseError(`Shard ${shard}: the database refused a statement`, {
        cause: failure,
        sqlState,
      });
  }
}

function place({ table, constraint }: DriverFailure): string {
  return `${table ?? 'a table'}${constraint === undefined ? '' : ` (${constraint})`}`;
}
