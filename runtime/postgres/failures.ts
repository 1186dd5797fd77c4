import { DatabaseError } from 'pg';
import { DriverFailure, factsOf } from '../sharding/driver-failure.js';

/**
 * The connection was lost, or the answer did not arrive in time. If the server had refused before, its SQLSTATE is
 * included, but the outcome is in doubt: a terminated session (57P01) may report the refusal at any time, even between
 * the commit and its answer.
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
 * Whether the server warns that a wait for a synchronous standby was cancelled. The transaction is then committed and
 * visible, and the COMMIT succeeds. The warning's text is translated and its SQLSTATE (01000) is that of any warning,
 * so neither identifies it.
 */
export function isUnreplicated({ routine }: { readonly routine: string | undefined }): boolean {
  return routine === 'SyncRepWaitForLSN';
}

/** A commit whose wait for a synchronous standby was cancelled: a failover may undo it. */
export function unreplicated(description: string, warning: string): DriverFailure {
  return new DriverFailure(`${description}: ${warning}`, { phase: 'in-flight' });
}

/** The reason for discarding a connection that may still work. */
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

/** A pooler in transaction mode cannot keep session settings. */
function hintFor(cause: unknown): string {
  const refused = cause instanceof DatabaseError && cause.message.includes('unsupported startup parameter');
  return refused ? '. Is it PgBouncer? Then set the key pooler of this data source.' : '';
}
