import {
  Action,
  Allow,
  type Clock,
  type Decimal,
  FwAction,
  type Principal,
  RefusedError,
  type ShardedId,
} from 'fw-actions';
import { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { mayMove } from '../rules.js';

export interface WalletTransferParams {
  readonly sourceId: ShardedId<Wallet>;
  readonly destId: ShardedId<Wallet>;
  readonly amount: Decimal;
}

/**
 * Moves money between two wallets in one execution. The caller must allow a transfer over two shards, which
 * is not atomic.
 */
@FwAction
@Allow<WalletTransferParams>(({ principal, params, model }) =>
  mayMove(principal, model(Wallet, params.sourceId)),
)
export class WalletTransferAction extends Action<WalletTransferParams, void> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: WalletTransferParams): Promise<void> {
    const [source, destination] = await Promise.all([
      this.#wallets.getById(params.sourceId.getValue()),
      this.#wallets.getById(params.destId.getValue()),
    ]);
    if (source.currency !== destination.currency)
      throw new RefusedError('The wallets have different currencies');
    this.plan().update(source.withdraw(params.amount));
    this.plan().update(destination.deposit(params.amount));
  }
}
