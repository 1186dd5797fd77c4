import { ShardIdentifier, ValidationError } from 'fw-actions';

/** Where members live, with their credit and their points. */
export const MEMBERS: ShardIdentifier = ShardIdentifier.of(0, 0);
/** Where hotels of Europe live, with their nights and bookings. */
export const EUROPE: ShardIdentifier = ShardIdentifier.of(1, 0);
/** The same for the Americas. */
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
