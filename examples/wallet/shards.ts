import { ShardIdentifier } from 'fw-actions';

/** Where wallets of most countries live. */
export const GLOBAL_SHARD: ShardIdentifier = ShardIdentifier.of(0, 0);
/** Where wallets of Mexico live. */
export const MEXICO_SHARD: ShardIdentifier = ShardIdentifier.of(1, 0);

/** The shard of a new wallet. The country is matched exactly. */
export function shardOfCountry(country: string): ShardIdentifier {
  return country === 'MX' ? MEXICO_SHARD : GLOBAL_SHARD;
}
