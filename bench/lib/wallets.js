/** Number of wallets of the cold workloads. */
export const WALLETS = 10_000;

/**
 * The common prefix of the ids of wallets 0 to 9,999, which differ in their last 12 digits. pgbench creates the same
 * ids in SQL.
 */
export const ID_PREFIX = '01900000-0000-7000-8000-';

/** A version 7 UUID with the bits of shard (0, 0). */
export function walletId(number) {
  return ID_PREFIX + number.toString(16).padStart(12, '0');
}

/** All ids, created in advance so that the measured loop does not format numbers. */
export const walletIds = Array.from({ length: WALLETS }, (_, number) => walletId(number));

/** Amounts of deposits with their value in cents, which can be summed exactly. */
export const amounts = ['0.25', '1.10', '3', '7.35', '12.5', '20.01', '99.99'].map((text) => ({
  text,
  cents: Math.round(Number(text) * 100),
}));
