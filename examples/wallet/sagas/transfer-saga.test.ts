import { currency, Decimal, RefusedError } from 'fw-actions';
import { describe, test } from 'vitest';
import { TransferCompleteAction } from '../actions/transfer-complete-action.js';
import { TransferInitiateAction } from '../actions/transfer-initiate-action.js';
import { TransferRefundAction } from '../actions/transfer-refund-action.js';
import { WalletMoneyDepositedEvent } from '../events/wallet-money-deposited-event.js';
import { WalletMoneyRefundedEvent } from '../events/wallet-money-refunded-event.js';
import { Wallet, type WalletState } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { specs, storedWallet } from '../test-support/wallets.js';
import { TransferSaga } from './transfer-saga.js';

const amount = new Decimal(30);
const saga = specs.saga(TransferSaga);

/** A source with 100 and a destination. */
const walletsOf = (state: WalletState = 'OPENED', shard = MEXICO_SHARD) =>
  [storedWallet(), storedWallet({ shard, state })] as const;

describe('TransferSaga', () => {
  test.each([
    ['another shard', MEXICO_SHARD],
    ['the same shard', GLOBAL_SHARD],
  ])('moves the money to its destination on %s', async (_, shard) => {
    const [source, destination] = walletsOf('OPENED', shard);
    await saga
      .given(source, destination)
      .when(TransferInitiateAction, { sourceId: source.id, destinationId: destination.id, amount })
      .thenSteps({ state: 'INITIATED', action: TransferCompleteAction })
      .thenEnds('COMPLETED')
      .thenStored(source, { balance: new Decimal(70) })
      .thenStored(destination, { balance: new Decimal(130) });
  });

  test('refunds it if the destination is closed', () => {
    const [source, destination] = walletsOf('CLOSED');
    return saga
      .given(source, destination)
      .when(TransferInitiateAction, { sourceId: source.id, destinationId: destination.id, amount })
      .thenSteps({ state: 'INITIATED', failure: { code: 'FW_REFUSED' } }, 'REFUNDING')
      .thenEnds('REFUNDED', { reason: 'Wallet is closed' })
      .thenStored(source, { balance: new Decimal(100) });
  });

  test('refunds it if the destination cannot be reached in time', async () => {
    const [source, destination] = walletsOf();
    await saga
      .given(source, destination)
      .givenTimeOut('INITIATED')
      .when(TransferInitiateAction, { sourceId: source.id, destinationId: destination.id, amount })
      .thenSteps({ state: 'INITIATED', failure: { code: 'TIMED_OUT' } }, 'REFUNDING')
      .thenEnds('REFUNDED')
      .thenStored(destination, { balance: destination.balance });
  });

  test('never gives up a refund', () => {
    const [source, { id: destinationId }] = walletsOf();
    return saga
      .given(source)
      .givenFailure('REFUNDING', new RefusedError('No way back'))
      .when(TransferInitiateAction, { sourceId: source.id, destinationId, amount })
      .thenStuck('parked', 'REFUNDING', { message: 'No way back' });
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
