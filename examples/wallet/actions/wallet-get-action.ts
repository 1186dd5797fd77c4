import { Action, Allow, type Clock, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { WalletResponse } from '../responses/wallet-response.js';
import { ownWallets } from '../rules.js';

export interface WalletGetParams {
  readonly walletId: Id<Wallet>;
}

/** Shows a wallet. */
@FwAction
@HttpRoute('GET', '/wallets/{walletId}', { response: WalletResponse, etag: 'version', tag: 'Wallets' })
@Allow(ownWallets)
export class WalletGetAction extends Action<WalletGetParams, Wallet> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected perform(_principal: Principal, params: WalletGetParams): Promise<Wallet> {
    return this.#wallets.getById(params.walletId.getValue());
  }
}
