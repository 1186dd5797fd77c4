import {
  Decimal,
  ModelNotFoundError,
  PreconditionFailedError,
  RefusedError,
  ValidationError,
} from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletMoneyDepositedEvent } from '../events/wallet-money-deposited-event.js';
import { Wallet } from '../models/wallet.js';
import { ifVersion, specs, storedWallet } from '../test-support/wallets.js';
import { WalletDepositMoneyAction } from './wallet-deposit-money-action.js';

const deposit = specs.action(WalletDepositMoneyAction);
const amount = new Decimal('50.25');

describe('WalletDepositMoneyAction', () => {
  test('adds the amount to the balance and emits the event', () => {
    const wallet = storedWallet({ balance: '100', version: 3 });
    return deposit
      .given(wallet)
      .when({ walletId: wallet.id, amount })
      .thenUpdated(Wallet, { id: wallet.id, version: 4, balance: new Decimal('150.25'), state: 'OPENED' })
      .thenEvents(new WalletMoneyDepositedEvent(wallet.id, amount, new Decimal('150.25')));
  });

  test.each(['0', '-0', '-1', '-0.0001', 'NaN'])('refuses to deposit %s', async (text) => {
    const wallet = storedWallet();
    await deposit
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal(text) })
      .thenFails(ValidationError, 'Deposit amount must be positive');
  });

  test.each([
    ['100', '0.00005', 'balance has more than 4 decimals'],
    ['999999999999999.9999', '0.0001', 'balance is out of range: at most 15 digits before the point'],
  ])('refuses a sum of %s and %s that a balance cannot hold', async (balance, text, message) => {
    const wallet = storedWallet({ balance });
    await deposit
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal(text) })
      .thenFails(ValidationError, message);
  });

  test('refuses a closed wallet', () => {
    const wallet = storedWallet({ state: 'CLOSED', balance: '0' });
    return deposit
      .given(wallet)
      .when({ walletId: wallet.id, amount })
      .thenFails(RefusedError, 'Wallet is closed');
  });

  test('refuses an unknown wallet', () => {
    const { id } = storedWallet();
    return deposit
      .when({ walletId: id, amount })
      .thenFails(ModelNotFoundError, `Wallet ${id} does not exist`);
  });

  test('is refused if the version has changed since the caller read it', () => {
    const wallet = storedWallet({ version: 3 });
    return deposit
      .given(wallet)
      .when({ walletId: wallet.id, amount }, ifVersion(wallet, 2))
      .thenFails(PreconditionFailedError, `Wallet ${wallet.id} has version 3, not 2`);
  });
});
