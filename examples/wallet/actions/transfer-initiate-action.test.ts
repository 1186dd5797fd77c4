import { Decimal, ModelNotFoundError, RefusedError, ShardedId, ValidationError } from 'fw-actions';
import { SagaRun } from 'fw-actions/operate';
import { describe, test } from 'vitest';
import { TransferInitiatedEvent } from '../events/transfer-initiated-event.js';
import { WalletMoneyWithdrawnEvent } from '../events/wallet-money-withdrawn-event.js';
import { Transfer } from '../models/transfer.js';
import { Wallet } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { specs, storedWallet } from '../test-support/wallets.js';
import { TransferInitiateAction } from './transfer-initiate-action.js';

const initiate = specs.action(TransferInitiateAction);
const amount = new Decimal(30);
const destinationId = ShardedId.generate(Wallet, MEXICO_SHARD);

describe('TransferInitiateAction', () => {
  test('takes the money from the source and starts the saga on its shard', () => {
    const source = storedWallet({ balance: '100', shard: GLOBAL_SHARD });
    return initiate
      .given(source)
      .when({ sourceId: source.id, destinationId, amount })
      .thenUpdated(Wallet, { id: source.id, balance: new Decimal(70) })
      .thenAdded(Transfer, { state: 'INITIATED', amount: new Decimal(30) })
      .thenAdded(SagaRun, { saga: 'TransferSaga', step: 'INITIATED' })
      .thenEvents((transfer) => [
        new WalletMoneyWithdrawnEvent(source.id, amount, new Decimal(70)),
        new TransferInitiatedEvent(transfer.id, source.id, destinationId, amount, source.currency),
      ])
      .thenSchedules()
      .thenTouches(GLOBAL_SHARD);
  });

  test('refuses what its source refuses', async () => {
    const [poor, closed] = [storedWallet({ balance: '29' }), storedWallet({ state: 'CLOSED' })];
    const from = ({ id }: Wallet) =>
      initiate.given(poor, closed).when({ sourceId: id, destinationId, amount });
    await from(poor).thenFails(RefusedError, 'Insufficient balance');
    await from(closed).thenFails(RefusedError, 'Wallet is closed');
    await from(storedWallet()).thenFails(ModelNotFoundError);
  });

  test('refuses an amount that is not positive, and a transfer to its own source', async () => {
    const source = storedWallet();
    const when = (to: ShardedId<Wallet>, money: number) =>
      initiate.given(source).when({ sourceId: source.id, destinationId: to, amount: new Decimal(money) });
    await when(destinationId, 0).thenFails(ValidationError, 'Transfer amount must be positive');
    await when(source.id, 1).thenFails(ValidationError, 'A transfer needs two wallets');
  });
});
