import {
  AutoBuilder,
  type Currency,
  type Decimal,
  Model,
  RefusedError,
  ShardedId,
  type ShardIdentifier,
  type Uuid,
  ValidationError,
} from 'fw-actions';
import { WalletClosedEvent } from '../events/wallet-closed-event.js';
import { WalletCreatedEvent } from '../events/wallet-created-event.js';
import { WalletMoneyDepositedEvent } from '../events/wallet-money-deposited-event.js';
import { WalletMoneyRefundedEvent } from '../events/wallet-money-refunded-event.js';
import { WalletMoneyWithdrawnEvent } from '../events/wallet-money-withdrawn-event.js';
import { WalletBuilder } from '../generated/wallet.js';

export type WalletState = 'OPENED' | 'CLOSED';

/** Money of one owner in one currency. Its id contains its shard. */
@AutoBuilder
export class Wallet extends Model<Wallet, ShardedId<Wallet>, WalletState> {
  readonly ownerId!: Uuid;
  readonly currency!: Currency;
  readonly balance!: Decimal;

  /** Opens a wallet on `shard`. */
  static createWallet(
    shard: ShardIdentifier,
    ownerId: Uuid,
    currency: Currency,
    initialBalance: Decimal,
    createdDate: Date,
  ): Wallet {
    if (initialBalance?.isNegative() && !initialBalance.isZero()) {
      throw new ValidationError('Initial balance must not be negative', { field: 'initialBalance' });
    }
    const id = ShardedId.generate(Wallet, shard);
    return WalletBuilder.wallet()
      .id(id)
      .state('OPENED')
      .createdDate(createdDate)
      .withInitialVersion()
      .ownerId(ownerId)
      .currency(currency)
      .balance(initialBalance)
      .withEvent(new WalletCreatedEvent(id, ownerId, currency, initialBalance))
      .build();
  }

  /** Adds money. */
  deposit(amount: Decimal): Wallet {
    if (!amount.greaterThan(0)) {
      throw new ValidationError('Deposit amount must be positive', { field: 'amount' });
    }
    this.#refuseIfClosed();
    const balance = this.balance.plus(amount);
    return this.copy()
      .balance(balance)
      .withEvent(new WalletMoneyDepositedEvent(this.id, amount, balance))
      .build();
  }

  /** Takes money out, at most the balance. */
  withdraw(amount: Decimal): Wallet {
    if (!amount.greaterThan(0)) {
      throw new ValidationError('Withdrawal amount must be positive', { field: 'amount' });
    }
    this.#refuseIfClosed();
    if (amount.greaterThan(this.balance)) throw new RefusedError('Insufficient balance');
    const balance = this.balance.minus(amount);
    return this.copy()
      .balance(balance)
      .withEvent(new WalletMoneyWithdrawnEvent(this.id, amount, balance))
      .build();
  }

  /** Takes money back that could not be transferred, even if the wallet is closed. */
  refund(amount: Decimal): Wallet {
    const balance = this.balance.plus(amount);
    return this.copy()
      .balance(balance)
      .withEvent(new WalletMoneyRefundedEvent(this.id, amount, balance))
      .build();
  }

  /** Closes an empty wallet permanently. */
  close(): Wallet {
    this.#refuseIfClosed();
    if (!this.balance.isZero()) throw new RefusedError('A wallet with a balance cannot be closed');
    return this.copy().state('CLOSED').withEvent(new WalletClosedEvent(this.id)).build();
  }

  copy(): WalletBuilder {
    return WalletBuilder.copyOf(this);
  }

  #refuseIfClosed(): void {
    if (this.state === 'CLOSED') throw new RefusedError('Wallet is closed');
  }
}
