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

export interface WalletDepositMoneyParams {
  readonly walletId: Id<Wallet>;
  /** Greater than 0, at most four decimals. */
  readonly amount: Decimal;
  /**
   * Recipient of the money. Stored only with the action.
   * @maxLength 256
   */
  readonly recipient?: string;
}

/** Puts money into a wallet. */
@FwAction
@HttpRoute('POST', '/wallets/{walletId}/deposit', {
  response: WalletResponse,
  etag: 'version',
  ifMatch: 'walletId',
  tag: 'Wallets',
  example: { amount: '50.25' },
})
@Allow(ownWallets)
export class WalletDepositMoneyAction extends Action<WalletDepositMoneyParams, Wallet> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: WalletDepositMoneyParams): Promise<Wallet> {
    const wallet = await this.#wallets.getById(params.walletId.getValue());
    return this.plan().update(wallet.deposit(params.amount));
  }
}
