import { type Page, type PageRequest, Repository, type Uuid } from 'fw-actions';
import type { WalletTables } from '../generated/wallet.js';
import type { Wallet } from '../models/wallet.js';

/** Wallets by id and by owner. */
export class WalletRepository extends Repository<Wallet, WalletTables> {
  /** Wallets of one owner over all shards, oldest first. */
  findByOwner(ownerId: Uuid, page: PageRequest): Promise<Page<Wallet>> {
    return this.findPage(page, { where: (query) => query.where('owner_id', '=', ownerId) });
  }
}
