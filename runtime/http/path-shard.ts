/** Represents the shard of requests whose path names none. */
export const NO_SHARD = -1;

/** A UUID of version 7. The first digits of its fourth block carry the shard. */
const SHARDED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const ID_LENGTH = 36;

/**
 * The bits of the shard that the first id among the path parameters names, or `NO_SHARD`. A guess for the limits of
 * requests in progress: generated routes read the id again.
 */
export function shardInPath(params: unknown): number {
  if (typeof params !== 'object' || params === null) return NO_SHARD;
  for (const value of Object.values(params)) {
    if (typeof value === 'string' && value.length === ID_LENGTH && SHARDED_ID.test(value))
      // 16 bits: the variant's two, then the shard's 14.
      return Number.parseInt(value.slice(19, 23), 16) & 0x3fff;
  }
  return NO_SHARD;
}
