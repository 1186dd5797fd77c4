import {
  CrossShardException,
  currency,
  Decimal,
  ExecutionConfiguration,
  PlanMisuseError,
  RefusedError,
} from 'fw-actions';
import { describe, test } from 'vitest';
import { WalletMoneyDepositedEvent } from '../events/wallet-money-deposited-event.js';
import { WalletMoneyWithdrawnEvent } from '../events/wallet-money-withdrawn-event.js';
import { Wallet } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { specs, storedWallet } from '../test-support/wallets.js';
import { WalletTransferAction } from './wallet-transfer-action.js';

const transfer = specs.action(WalletTransferAction);
const amount = new Decimal(30);
const crossShard = ExecutionConfiguration.Builder.executionConfiguration().allowCrossShard(true).build();

describe('WalletTransferAction', () => {
  test('moves money between two wallets of one shard', () => {
    const source = storedWallet({ balance: '100' });
    const destination = storedWallet({ balance: '5' });
    return transfer
      .given(source, destination)
      .when({ sourceId: source.id, destId: destination.id, amount })
      .thenUpdated(Wallet, { id: source.id, version: 2, balance: new Decimal(70) })
      .thenUpdated(Wallet, { id: destination.id, version: 2, balance: new Decimal(35) })
      .thenEvents(
        new WalletMoneyWithdrawnEvent(source.id, amount, new Decimal(70)),
        new WalletMoneyDepositedEvent(destination.id, amount, new Decimal(35)),
      )
      .thenTouches(GLOBAL_SHARD);
  });

  test('is refused over two shards unless that is allowed', async ({ expect }) => {
    const source = storedWallet({ shard: GLOBAL_SHARD });
    const destination = storedWallet({ shard: MEXICO_SHARD });
    await transfer
      .given(source, destination)
      .when({ sourceId: source.id, destId: destination.id, amount })
      .thenFails(
        CrossShardException,
        /^WalletTransferAction touches more than one shard: \(0, 0\), \(1, 0\)/,
        (error) => expect(error.shards).toEqual(['(0, 0)', '(1, 0)']),
      );
  });

  test('runs over two shards when that is allowed', () => {
    const source = storedWallet({ shard: MEXICO_SHARD });
    const destination = storedWallet({ shard: GLOBAL_SHARD });
    return transfer
      .given(source, destination)
      .when({ sourceId: source.id, destId: destination.id, amount }, crossShard)
      .thenUpdated(Wallet, { id: source.id, balance: new Decimal(70) })
      .thenUpdated(Wallet, { id: destination.id, balance: new Decimal(130) })
      .thenTouches(MEXICO_SHARD, GLOBAL_SHARD);
  });

  test.each([
    [
      'wallets of different currencies',
      {},
      { currency: currency('MXN') },
      'The wallets have different currencies',
    ],
    ['more than the source has', { balance: '29.9999' }, {}, 'Insufficient balance'],
    ['a closed destination', {}, { state: 'CLOSED', balance: '0' }, 'Wallet is closed'],
  ] as const)('refuses %s', async (_, from, to, message) => {
    const [source, destination] = [storedWallet(from), storedWallet(to)];
    await transfer
      .given(source, destination)
      .when({ sourceId: source.id, destId: destination.id, amount })
      .thenFails(RefusedError, message);
  });

  test('refuses to move money from a wallet to itself', () => {
    const wallet = storedWallet();
    return transfer
      .given(wallet)
      .when({ sourceId: wallet.id, destId: wallet.id, amount })
      .thenFails(PlanMisuseError, /is staged twice in one plan/);
  });
});
