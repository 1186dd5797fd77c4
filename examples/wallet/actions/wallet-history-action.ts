import {
  Action,
  Allow,
  type Clock,
  type Default,
  type EventHistory,
  type EventPage,
  FwAction,
  HttpRoute,
  type Id,
  type Principal,
} from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { WalletEventPageResponse } from '../responses/wallet-event-page-response.js';
import { ownWallets } from '../rules.js';

export interface WalletHistoryParams {
  readonly walletId: Id<Wallet>;
  /**
   * Events per page.
   * @integer
   * @minimum 1
   * @maximum 200
   * @default 50
   */
  readonly limit: Default<number>;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

/** Shows the events of a wallet, oldest first. */
@FwAction
@HttpRoute('GET', '/wallets/{walletId}/events', {
  response: WalletEventPageResponse,
  feed: 'walletId',
  tag: 'Wallets',
})
@Allow(ownWallets)
export class WalletHistoryAction extends Action<WalletHistoryParams, EventPage> {
  readonly #wallets: WalletRepository;
  readonly #history: EventHistory;

  constructor(clock: Clock, wallets: WalletRepository, history: EventHistory) {
    super(clock);
    this.#wallets = wallets;
    this.#history = history;
  }

  protected async perform(_principal: Principal, params: WalletHistoryParams): Promise<EventPage> {
    const { walletId, limit, cursor } = params;
    const wallet = await this.#wallets.getById(walletId.getValue());
    return this.#history.of(wallet.id, { limit, cursor });
  }
}
