import { ShardIdentifier } from 'fw-actions';

/** Shard of wallets of all countries but Mexico. */
export const GLOBAL_SHARD: ShardIdentifier = ShardIdentifier.of(0, 0);
/** Shard of wallets of Mexico. */
export const MEXICO_SHARD: ShardIdentifier = ShardIdentifier.of(1, 0);

/** The shard of a new wallet. The country is matched exactly. */
export function shardOfCountry(country: string): ShardIdentifier {
  return country === 'MX' ? MEXICO_SHARD : GLOBAL_SHARD;
}
