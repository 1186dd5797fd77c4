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

/** Params as an untyped caller might send them. */
function withNull(field: keyof WalletCreateParams): WalletCreateParams {
  return { ...inMexico, [field]: null };
}

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

  test('puts a wallet of Mexico on the shard of Mexico', () =>
    create.when(inMexico).thenTouches(MEXICO_SHARD));

  test.each(['US', 'mx', 'Mx', ' MX', ''])(
    'puts a wallet of country %j on the global shard',
    async (country) => {
      await create.when({ ...inMexico, country }).thenTouches(GLOBAL_SHARD);
    },
  );

  test('starts with nothing if no initial balance is given', () => {
    const { initialBalance: _, ...params } = inMexico;
    return create.when(params).thenAdded(Wallet, { balance: new Decimal(0) });
  });

  test('treats a negative zero as zero', () =>
    create
      .when({ ...inMexico, initialBalance: new Decimal('-0') })
      .thenAdded(Wallet, { balance: new Decimal(0) }));

  test('refuses a negative initial balance', () =>
    create
      .when({ ...inMexico, initialBalance: new Decimal('-0.0001') })
      .thenFails(ValidationError, 'Initial balance must not be negative'));

  test('refuses an initial balance that the column would round', () =>
    create
      .when({ ...inMexico, initialBalance: new Decimal('0.00005') })
      .thenFails(ValidationError, 'balance has more than 4 decimals'));

  test.each([
    ['ownerId', 'ownerId cannot be null'],
    ['currency', 'currency cannot be null'],
    ['initialBalance', 'balance cannot be null'],
  ] as const)('refuses a null %s with the words "%s"', async (field, message) => {
    await create.when(withNull(field)).thenFails(ValidationError, message);
  });

  test('gives each wallet its own id', async ({ expect }) => {
    const first = await create.when(inMexico).performed();
    const second = await create.when(inMexico).performed();
    expect(first.result.id.equals(second.result.id)).toBe(false);
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
