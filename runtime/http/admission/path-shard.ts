import { NO_SHARD } from './admission.js';

/** A UUID of version 7 as a part of a path; the first digits of its fourth block carry the shard. */
const SHARDED_ID = /\/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-([89ab][0-9a-f]{3})-[0-9a-f]{12}(?:[/?]|$)/i;

/**
 * The bits of the shard that the first id in a request target names, or `NO_SHARD`. Only admission uses this guess. The
 * route reads the id again.
 */
export function shardInPath(target: string): number {
  const block = SHARDED_ID.exec(target)?.[1];
  // 16 bits: the variant's two, then the shard's 14.
  return block === undefined ? NO_SHARD : Number.parseInt(block, 16) & 0x3fff;
}
