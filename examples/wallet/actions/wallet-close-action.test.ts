import { RefusedError } from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletClosedEvent } from '../events/wallet-closed-event.js';
import { Wallet } from '../models/wallet.js';
import { specs, storedWallet } from '../test-support/wallets.js';
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

  test.each([
    ['has a balance', { balance: '0.0001' }, 'A wallet with a balance cannot be closed'],
    ['is closed already', { balance: '0', state: 'CLOSED' }, 'Wallet is closed'],
  ] as const)('refuses a wallet that %s', async (_, facts, message) => {
    const wallet = storedWallet(facts);
    await close.given(wallet).when({ walletId: wallet.id }).thenFails(RefusedError, message);
  });
});
