import { ModelNotFoundError } from 'fw-actions';
import { actionSpec } from 'fw-actions/testing';
import { describe, test } from 'vitest';
import { walletModel } from '../generated/wallet.js';
import { WalletRepository } from '../repositories/wallet-repository.js';
import { storedWallet } from '../test-support/wallets.js';
import { WalletGetAction } from './wallet-get-action.js';

const get = actionSpec({
  create: (kit) => new WalletGetAction(kit.clock, kit.repository(WalletRepository, walletModel)),
  principal: { name: 'olivia', claims: { role: 'operator' } },
});

describe('WalletGetAction', () => {
  test('shows the stored wallet and changes nothing', () => {
    const wallet = storedWallet({ balance: '12.5', version: 4 });
    return get.given(storedWallet(), wallet).when({ walletId: wallet.id }).thenReturns(wallet).thenNothing();
  });

  test('shows a closed wallet too', () => {
    const wallet = storedWallet({ balance: '0', state: 'CLOSED' });
    return get.given(wallet).when({ walletId: wallet.id }).thenReturns({ state: 'CLOSED' });
  });

  test('refuses an unknown wallet', () => {
    const { id } = storedWallet();
    return get
      .given(storedWallet())
      .when({ walletId: id })
      .thenFails(ModelNotFoundError, `Wallet ${id} does not exist`);
  });
});
