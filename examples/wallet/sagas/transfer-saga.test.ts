import { currency, Decimal, RefusedError, ShardedId } from 'fw-actions';
import { describe, expect, test } from 'vitest';
import { TransferCompleteAction } from '../actions/transfer-complete-action.js';
import { TransferRefundAction } from '../actions/transfer-refund-action.js';
import { WalletMoneyDepositedEvent } from '../events/wallet-money-deposited-event.js';
import { WalletMoneyRefundedEvent } from '../events/wallet-money-refunded-event.js';
import { Transfer } from '../models/transfer.js';
import { Wallet } from '../models/wallet.js';
import { MEXICO_SHARD } from '../shards.js';
import { NOW, specs, storedWallet } from '../test-support/wallets.js';
import { TransferSaga } from './transfer-saga.js';

const amount = new Decimal(30);
const source = storedWallet();
const transfer = Transfer.initiate(source, ShardedId.generate(Wallet, MEXICO_SHARD), amount, NOW);
const { INITIATED, REFUNDING } = new TransferSaga().steps;

describe('TransferSaga', () => {
  test('brings the money to its destination', () => {
    const { destinationId, currency: money } = transfer;
    expect(INITIATED?.params(transfer)).toEqual({ walletId: destinationId, amount, currency: money });
    expect(INITIATED?.done(transfer).state).toBe('COMPLETED');
  });

  test('takes it back to its source, with the reason', () => {
    const rejected = INITIATED?.refused?.(transfer, { code: 'FW_REFUSED', message: 'Wallet is closed' });
    expect([rejected?.state, rejected?.reason]).toEqual(['REFUNDING', 'Wallet is closed']);
    expect(REFUNDING?.params(transfer)).toEqual({ walletId: source.id, amount });
    expect(REFUNDING?.done(transfer).state).toBe('REFUNDED');
  });

  test('cannot give a refund up', () => {
    expect(REFUNDING?.refused).toBeUndefined();
  });
});

describe('TransferCompleteAction', () => {
  const complete = specs.action(TransferCompleteAction);

  test('is a deposit', () => {
    const wallet = storedWallet({ balance: '5' });
    return complete
      .given(wallet)
      .when({ walletId: wallet.id, amount, currency: currency('EUR') })
      .thenUpdated(Wallet, { balance: new Decimal(35) })
      .thenEvents(new WalletMoneyDepositedEvent(wallet.id, amount, new Decimal(35)));
  });

  test('refuses another currency', async () => {
    const wallet = storedWallet();
    await complete
      .given(wallet)
      .when({ walletId: wallet.id, amount, currency: currency('MXN') })
      .thenFails(RefusedError, 'The wallets have different currencies');
  });
});

describe('TransferRefundAction', () => {
  test.each(['OPENED', 'CLOSED'] as const)('puts money back into a wallet that is %s', async (state) => {
    const wallet = storedWallet({ balance: '0', state });
    await specs
      .action(TransferRefundAction)
      .given(wallet)
      .when({ walletId: wallet.id, amount })
      .thenUpdated(Wallet, { state, balance: amount })
      .thenEvents(new WalletMoneyRefundedEvent(wallet.id, amount, amount));
  });
});
