import { Decimal, RefusedError, ValidationError } from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletMoneyWithdrawnEvent } from '../events/wallet-money-withdrawn-event.js';
import { Wallet } from '../models/wallet.js';
import { specs, storedWallet } from '../test-support/wallets.js';
import { WalletWithdrawMoneyAction } from './wallet-withdraw-money-action.js';

const withdraw = specs.action(WalletWithdrawMoneyAction);

describe('WalletWithdrawMoneyAction', () => {
  test('takes the amount from the balance and emits the event', () => {
    const wallet = storedWallet({ balance: '100', version: 7 });
    const amount = new Decimal('0.0001');
    return withdraw
      .given(wallet)
      .when({ walletId: wallet.id, amount })
      .thenUpdated(Wallet, { version: 8, balance: new Decimal('99.9999') })
      .thenEvents(new WalletMoneyWithdrawnEvent(wallet.id, amount, new Decimal('99.9999')));
  });

  test('may empty the wallet', () => {
    const wallet = storedWallet({ balance: '100' });
    return withdraw
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal(100) })
      .thenUpdated(Wallet, { balance: new Decimal(0), state: 'OPENED' });
  });

  test('refuses more than the balance', () => {
    const wallet = storedWallet({ balance: '100' });
    return withdraw
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal('100.0001') })
      .thenFails(RefusedError, 'Insufficient balance');
  });

  test.each(['0', '-0', '-5', 'NaN'])('refuses to withdraw %s', async (text) => {
    const wallet = storedWallet();
    await withdraw
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal(text) })
      .thenFails(ValidationError, 'Withdrawal amount must be positive');
  });

  test('refuses a closed wallet', () => {
    const wallet = storedWallet({ state: 'CLOSED', balance: '0' });
    return withdraw
      .given(wallet)
      .when({ walletId: wallet.id, amount: new Decimal(1) })
      .thenFails(RefusedError, 'Wallet is closed');
  });
});
