import {
  Action,
  Allow,
  type Clock,
  type Decimal,
  FwAction,
  HttpRoute,
  type Principal,
  type ShardedId,
  ValidationError,
} from 'fw-actions';
import { Transfer } from '../models/transfer.js';
import { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { TransferResponse } from '../responses/transfer-response.js';
import { mayMove } from '../rules.js';
import { TransferSaga } from '../sagas/transfer-saga.js';

export interface TransferInitiateParams {
  readonly sourceId: ShardedId<Wallet>;
  readonly destinationId: ShardedId<Wallet>;
  /** Greater than 0, at most four decimals, in the currency of the source. */
  readonly amount: Decimal;
}

/** Transfers money between two wallets on any shards. */
@FwAction
@HttpRoute('POST', '/transfers', {
  status: 202,
  response: TransferResponse,
  location: '/transfers/{id}',
  etag: 'version',
  tag: 'Transfers',
  example: {
    sourceId: '019b0000-0000-7000-8000-000000000001',
    destinationId: '019b0000-0000-7000-8040-000000000002',
    amount: '30',
  },
})
@Allow<TransferInitiateParams>(({ principal, params, model }) =>
  mayMove(principal, model(Wallet, params.sourceId)),
)
export class TransferInitiateAction extends Action<TransferInitiateParams, Transfer> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, params: TransferInitiateParams): Promise<Transfer> {
    const { sourceId, destinationId, amount } = params;
    if (!amount.greaterThan(0)) {
      throw new ValidationError('Transfer amount must be positive', { field: 'amount' });
    }
    const source = await this.#wallets.getById(sourceId.getValue());
    const transfer = Transfer.initiate(source, destinationId, amount, this.clock.now());
    this.plan().update(source.withdraw(amount));
    return TransferSaga.start(this.plan(), transfer);
  }
}
