import {
  Action,
  Allow,
  type Clock,
  type Default,
  FwAction,
  HttpRoute,
  type Page,
  type Principal,
  type Uuid,
} from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { WalletPageResponse } from '../responses/wallet-page-response.js';
import { ownWallets } from '../rules.js';

export interface WalletListParams {
  readonly ownerId: Uuid;
  /**
   * Wallets per page.
   * @integer
   * @minimum 1
   * @maximum 200
   * @default 50
   */
  readonly limit: Default<number>;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

/** Lists the wallets of an owner over all shards, oldest first. */
@FwAction
@HttpRoute('GET', '/wallets', { response: WalletPageResponse, tag: 'Wallets' })
@Allow(ownWallets)
export class WalletListAction extends Action<WalletListParams, Page<Wallet>> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected perform(_principal: Principal, params: WalletListParams): Promise<Page<Wallet>> {
    const { ownerId, limit, cursor } = params;
    return this.#wallets.findByOwner(ownerId, { limit, cursor });
  }
}
