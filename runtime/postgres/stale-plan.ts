import type { DatabaseError } from 'pg';
import type { Statement } from '../sharding/shard-database.js';

/** An altered table makes a prepared statement unusable: `cached plan must not change result type`. */
const FEATURE_NOT_SUPPORTED = '0A000';
/** The prepared statement no longer exists, or already exists: because of a pooler, or `DISCARD ALL`. */
const NAME_MIXED_UP: ReadonlySet<string | undefined> = new Set(['26000', '42P05']);

/** Whether a prepared statement was refused because it is no longer usable: it had no effect. */
export function isStalePlan(refusal: DatabaseError): boolean {
  return (
    NAME_MIXED_UP.has(refusal.code) ||
    (refusal.code === FEATURE_NOT_SUPPORTED && refusal.routine === 'RevalidateCachedQuery')
  );
}

export function unnamed({ text, values }: Statement): Statement {
  return { text, values };
}
