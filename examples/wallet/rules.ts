import { type ModelRule, type Principal, type Uuid, visible } from 'fw-actions';
import { Wallet } from './models/wallet.js';

declare module 'fw-actions' {
  interface Claims {
    /** An operator may do everything. */
    readonly role?: 'operator';
    /** Owner whose wallets the caller may see and withdraw from. */
    readonly owner?: Uuid;
    /** Groups of shards that the caller may reach, if the configuration has tenants. */
    readonly region?: string | readonly string[];
  }
}

/** A caller's own wallets; every wallet for an operator. */
export const ownWallets: ModelRule<Wallet> = visible(Wallet, ({ claims }) =>
  claims.role === 'operator' ? 'all' : { ownerId: claims.owner },
);

/** Whether a caller may take money out of a wallet, for any destination. */
export function mayMove(principal: Principal, source: Wallet | undefined): boolean {
  return source === undefined ? principal.claims.role === 'operator' : ownWallets.allows(principal, source);
}
