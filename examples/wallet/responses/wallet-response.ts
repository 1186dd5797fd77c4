import type { Currency, Decimal, ShardedId, Uuid } from 'fw-actions';
import type { Wallet, WalletState } from '../models/wallet.js';

/** A wallet as callers see it. */
export class WalletResponse {
  readonly id: ShardedId<Wallet>;
  readonly shardGroup: number;
  readonly shardMember: number;
  readonly ownerId: Uuid;
  readonly currency: Currency;
  readonly balance: Decimal;
  readonly state: WalletState;
  readonly version: number;
  readonly createdDate: Date;
  readonly updatedDate: Date;

  private constructor(wallet: Wallet) {
    const shard = wallet.id.resolveShardIdentifier();
    this.id = wallet.id;
    this.shardGroup = shard.group;
    this.shardMember = shard.member;
    this.ownerId = wallet.ownerId;
    this.currency = wallet.currency;
    this.balance = wallet.balance;
    this.state = wallet.state;
    this.version = wallet.version;
    this.createdDate = wallet.createdDate;
    this.updatedDate = wallet.updatedDate;
  }

  static from(wallet: Wallet): WalletResponse {
    return new WalletResponse(wallet);
  }
}
