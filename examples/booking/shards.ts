import { ShardIdentifier, ValidationError } from 'fw-actions';

/** Shard of members with their credit and points. */
export const MEMBERS: ShardIdentifier = ShardIdentifier.of(0, 0);
/** Shard of hotels in Europe with their nights and bookings. */
export const EUROPE: ShardIdentifier = ShardIdentifier.of(1, 0);
/** Shard of hotels in the Americas with their nights and bookings. */
export const AMERICAS: ShardIdentifier = ShardIdentifier.of(2, 0);

const SHARDS: ReadonlyMap<string, ShardIdentifier> = new Map([
  ['europe', EUROPE],
  ['americas', AMERICAS],
]);

/** The shard of a new hotel. @throws ValidationError for another region */
export function shardOfRegion(region: string): ShardIdentifier {
  const shard = SHARDS.get(region);
  if (shard === undefined) {
    throw new ValidationError(`There are no hotels in ${region}: choose ${[...SHARDS.keys()].join(' or ')}`, {
      field: 'region',
    });
  }
  return shard;
}
