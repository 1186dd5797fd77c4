import { Action, Allow, type Clock, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { WalletResponse } from '../responses/wallet-response.js';
import { ownWallets } from '../rules.js';

export interface WalletCloseParams {
  readonly walletId: Id<Wallet>;
}

/** Closes an empty wallet permanently. */
@FwAction
@HttpRoute('POST', '/wallets/{walletId}/close', {
  response: WalletResponse,
  etag: 'version',
  ifMatch: 'walletId',
  tag: 'Wallets',
})
@Allow(ownWallets)
export class WalletCloseAction extends Action<WalletCloseParams, Wallet> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: WalletCloseParams): Promise<Wallet> {
    const wallet = await this.#wallets.getById(params.walletId.getValue());
    return this.plan().update(wallet.close());
  }
}
