import { PreconditionFailedError, RefusedError } from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletClosedEvent } from '../events/wallet-closed-event.js';
import { Wallet } from '../models/wallet.js';
import { ifVersion, specs, storedWallet } from '../test-support/wallets.js';
import { WalletCloseAction } from './wallet-close-action.js';

const close = specs.action(WalletCloseAction);

describe('WalletCloseAction', () => {
  test('closes an empty wallet and emits the event', () => {
    const wallet = storedWallet({ balance: '0', version: 5 });
    return close
      .given(wallet)
      .when({ walletId: wallet.id })
      .thenUpdated(Wallet, { state: 'CLOSED', version: 6 })
      .thenEvents(new WalletClosedEvent(wallet.id));
  });

  test('refuses a wallet with a balance', () => {
    const wallet = storedWallet({ balance: '0.0001' });
    return close
      .given(wallet)
      .when({ walletId: wallet.id })
      .thenFails(RefusedError, 'A wallet with a balance cannot be closed');
  });

  test('refuses a wallet that is closed already', () => {
    const wallet = storedWallet({ balance: '0', state: 'CLOSED' });
    return close.given(wallet).when({ walletId: wallet.id }).thenFails(RefusedError, 'Wallet is closed');
  });

  test('is refused if the version has changed since the caller read it', () => {
    const wallet = storedWallet({ balance: '0', version: 2 });
    return close
      .given(wallet)
      .when({ walletId: wallet.id }, ifVersion(wallet, 1))
      .thenFails(PreconditionFailedError);
  });
});
