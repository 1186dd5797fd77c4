import { currency, Decimal, ValidationError } from 'fw-actions';
import { seededIds } from 'fw-actions/testing';
import { describe, test } from 'vitest';
import { WalletCreatedEvent } from '../events/wallet-created-event.js';
import { Wallet } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { NOW, OWNER, specs } from '../test-support/wallets.js';
import { WalletCreateAction, type WalletCreateParams } from './wallet-create-action.js';

const create = specs.action(WalletCreateAction);

const inMexico: WalletCreateParams = {
  country: 'MX',
  ownerId: OWNER,
  currency: currency('MXN'),
  initialBalance: new Decimal('100.5'),
};

describe('WalletCreateAction', () => {
  test('opens a wallet and emits the event', () =>
    create
      .when(inMexico)
      .thenAdded(Wallet, {
        version: 1,
        state: 'OPENED',
        ownerId: OWNER,
        currency: currency('MXN'),
        balance: new Decimal('100.5'),
        createdDate: NOW,
        updatedDate: NOW,
      })
      .thenEvents((wallet) => [
        new WalletCreatedEvent(wallet.id, OWNER, currency('MXN'), new Decimal('100.5')),
      ]));

  test.each([
    ['MX', MEXICO_SHARD],
    ...['US', 'mx', 'Mx', ' MX', ''].map((country) => [country, GLOBAL_SHARD] as const),
  ] as const)('puts a wallet of country %j on shard %s', async (country, shard) => {
    await create.when({ ...inMexico, country }).thenTouches(shard);
  });

  test('starts with nothing if no initial balance is given', () => {
    const { initialBalance: _, ...params } = inMexico;
    return create.when(params).thenAdded(Wallet, { balance: new Decimal(0) });
  });

  test('treats a negative zero as zero', () =>
    create
      .when({ ...inMexico, initialBalance: new Decimal('-0') })
      .thenAdded(Wallet, { balance: new Decimal(0) }));

  test.each([
    ['initialBalance', new Decimal('-0.0001'), 'Initial balance must not be negative'],
    ['initialBalance', new Decimal('0.00005'), 'balance has more than 4 decimals'],
    // As an untyped caller might send them.
    ['ownerId', null, 'ownerId cannot be null'],
    ['currency', null, 'currency cannot be null'],
    ['initialBalance', null, 'balance cannot be null'],
  ] as const)('refuses %s = %s with the words "%s"', async (field, value, message) => {
    const params = { ...inMexico, [field]: value };
    await create.when(params).thenFails(ValidationError, message);
  });

  test('creates the same wallet from the same seed', async ({ expect }) => {
    const createSeeded = async (): Promise<Wallet> => {
      const restore = seededIds(7);
      try {
        return (await create.when(inMexico).performed()).result;
      } finally {
        restore();
      }
    };
    const [first, second] = [await createSeeded(), await createSeeded()];
    expect(first.id.getValue()).toBe(second.id.getValue());
  });
});
