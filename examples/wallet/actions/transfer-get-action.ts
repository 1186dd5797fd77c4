import { Action, Allow, type Clock, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import type { TransferRepository } from '../generated/transfer.js';
import type { Transfer } from '../models/transfer.js';
import { Wallet } from '../models/wallet.js';
import type { WalletRepository } from '../repositories/wallet-repository.js';
import { TransferResponse } from '../responses/transfer-response.js';
import { mayMove } from '../rules.js';

export interface TransferGetParams {
  readonly transferId: ShardedId<Transfer>;
}

/** Shows the progress of a transfer. */
@FwAction
@HttpRoute('GET', '/transfers/{transferId}', {
  response: TransferResponse,
  etag: 'version',
  tag: 'Transfers',
})
@Allow<TransferGetParams>(({ principal, models }) => mayMove(principal, models(Wallet)[0]))
export class TransferGetAction extends Action<TransferGetParams, Transfer> {
  readonly #transfers: TransferRepository;
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, transfers: TransferRepository, wallets: WalletRepository) {
    super(clock);
    this.#transfers = transfers;
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, { transferId }: TransferGetParams): Promise<Transfer> {
    const transfer = await this.#transfers.getById(transferId.getValue());
    // The rule checks the owner of the source.
    await this.#wallets.findById(transfer.sourceId);
    return transfer;
  }
}
