import {
  Action,
  Allow,
  type Clock,
  type Decimal,
  FwAction,
  HttpRoute,
  type Id,
  type Principal,
} from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { WalletResponse } from '../responses/wallet-response.js';
import { ownWallets } from '../rules.js';

export interface WalletWithdrawMoneyParams {
  readonly walletId: Id<Wallet>;
  /** Greater than 0, at most four decimals. */
  readonly amount: Decimal;
}

/** Takes money out of a wallet. */
@FwAction
@HttpRoute('POST', '/wallets/{walletId}/withdraw', {
  response: WalletResponse,
  etag: 'version',
  ifMatch: 'walletId',
  tag: 'Wallets',
  example: { amount: '50.25' },
})
@Allow(ownWallets)
export class WalletWithdrawMoneyAction extends Action<WalletWithdrawMoneyParams, Wallet> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: WalletWithdrawMoneyParams): Promise<Wallet> {
    const wallet = await this.#wallets.getById(params.walletId.getValue());
    return this.plan().update(wallet.withdraw(params.amount));
  }
}
