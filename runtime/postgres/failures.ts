import { DatabaseError } from 'pg';
import { DriverFailure } from '../sharding/driver-failure.js';

/** The server's refusal. Only to be used when the server has said that it is ready again. */
export function answered(error: DatabaseError): DriverFailure {
  return new DriverFailure(error.message, { phase: 'answered', ...factsOf(error) });
}

/**
 * The link was lost, or the answer did not come in time. If the server had refused before the link broke, its
 * SQLSTATE is kept, and yet the outcome is in doubt: a session that is terminated (57P01) reports it at any time, also
 * between the commit and its answer.
 */
export function inFlight(message: string, cause: unknown, refusal?: DatabaseError): DriverFailure {
  return new DriverFailure(message, {
    phase: 'in-flight',
    ...(cause instanceof NoAnswerInTime && { reason: 'deadline' }),
    ...(refusal && factsOf(refusal)),
    cause: refusal ?? cause,
  });
}

/**
 * Whether the server warns that a wait for a synchronous standby was cancelled. The transaction is committed and
 * visible then, and the COMMIT succeeds. The text and the SQLSTATE (01000) do not identify the warning: the first is
 * translated, the second is that of any warning.
 */
export function isUnreplicated({ routine }: { readonly routine: string | undefined }): boolean {
  return routine === 'SyncRepWaitForLSN';
}

/** A commit whose wait for a synchronous standby was cancelled: a failover may undo it. */
export function unreplicated(description: string, warning: string): DriverFailure {
  return new DriverFailure(`${description}: ${warning}`, { phase: 'in-flight' });
}

/** Why a connection was discarded although it may still work. */
export class NoAnswerInTime extends Error {
  constructor() {
    super('no answer in time');
  }
}

/** No connection could be opened, or the session's connection was lost before the call. */
export function notSent(message: string, cause: unknown): DriverFailure {
  const facts = cause instanceof DatabaseError ? factsOf(cause) : { cause };
  return new DriverFailure(`${message}${hintFor(cause)}`, {
    phase: 'not-sent',
    reason: 'unreachable',
    ...facts,
  });
}

/** A pooler in transaction mode has no session whose settings it could keep. */
function hintFor(cause: unknown): string {
  const refused = cause instanceof DatabaseError && cause.message.includes('unsupported startup parameter');
  return refused ? '. Is it PgBouncer? Then set the key pooler of this data source.' : '';
}

function factsOf(error: DatabaseError): {
  readonly sqlState: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly constraint: string | undefined;
  readonly cause: unknown;
} {
  const { code, schema, table, constraint } = error;
  return { sqlState: code, schema, table, constraint, cause: error };
}
