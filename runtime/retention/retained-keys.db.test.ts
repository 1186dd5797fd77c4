import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DatabaseHarness } from '../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { Decimal } from '../domain/decimal.js';
import { uuid7 } from '../domain/id-source.js';
import { handlerOf, type Ledger, openLedger, until } from '../events/test-support/ledger.js';
import { CreditAction, HERE, THERE } from '../execution/test-support/accounts.js';
import { ownedShards } from './test-support/owned-shards.js';

const OLD = Date.UTC(2024, 0, 10, 12);
const KEYS = "SELECT count(*) FROM eventlog.idempotency_keys WHERE operation = 'Credit'";

let started: Ledger | undefined;

beforeEach(() => {
  uuid7.reset({ nowMs: () => OLD, fillRandom: (bytes) => void crypto.getRandomValues(bytes) });
});

afterEach(async () => {
  uuid7.reset();
  await started?.events.stop();
  started = undefined;
});

interface Mirrored {
  readonly ledger: Ledger;
  /** Id of an account on another shard, which a handler credited with 10 in January 2024. */
  readonly mirror: string;
  readonly handler: { fails: boolean; calls: number };
}

/** A handler has credited an account of another shard and, if `fails`, has failed afterwards. */
async function mirrorLongAgo(harness: DatabaseHarness, fails: boolean): Promise<Mirrored> {
  const databases = await ownedShards(harness, [HERE, THERE]);
  const handler = { fails, calls: 0 };
  let mirror = '';
  const ledger = openLedger(databases, {
    handlers: [
      handlerOf(
        'Mirror',
        async (envelope) => {
          if (envelope.modelId === mirror) return;
          await envelope.execute(CreditAction, { account: mirror, amount: new Decimal(10) });
          handler.calls += 1;
          if (handler.fails) throw new Error('broken');
        },
        { maximumAttempts: 1 },
      ),
    ],
  });
  started = ledger;
  mirror = await ledger.open(THERE);
  await ledger.credit(await ledger.open());
  ledger.events.start();
  await until(async () => {
    const lags = await ledger.events.lag();
    return handler.calls === 1 && lags.every(({ consumers }) => consumers[0]?.behind === 0);
  });
  for (const shard of [HERE, THERE])
    await ledger.rows("UPDATE eventlog.events SET created_date = '2024-01-10'", shard);
  return { ledger, mirror, handler };
}

describeOnEachAdapter('Keys of handlers', (harness) => {
  test('outlive the dead letters that need them, on the shard of the event and on that of the action', async () => {
    const { ledger, mirror, handler } = await mirrorLongAgo(harness, true);
    await until(async () => (await ledger.events.deadLetters.list()).length === 1);
    const reports = await ledger.events.retain({ keepDays: 2 });
    expect(reports).toMatchObject([
      { dropped: ['events_default', 'actions_default'], deletedKeys: 0, unreachable: [] },
      { dropped: ['events_default', 'actions_default'], deletedKeys: 0, unreachable: [] },
    ]);
    handler.fails = false;
    await ledger.events.deadLetters.retry({ handler: 'Mirror' });
    await until(async () => (await ledger.events.deadLetters.list()).length === 0);
    expect(handler.calls).toBe(2);
    expect(await ledger.balance(mirror)).toBe('10');
    expect(await ledger.events.retain({ keepDays: 2 })).toMatchObject([
      { deletedKeys: 1 },
      { deletedKeys: 1 },
    ]);
    expect([await ledger.rows(KEYS), await ledger.rows(KEYS, THERE)]).toEqual([[['0']], [['0']]]);
  }, 120_000);

  test('outlive the horizon of the shard that their action wrote to, while their event can be replayed', async () => {
    const { ledger, mirror, handler } = await mirrorLongAgo(harness, false);
    expect(await ledger.events.retain({ keepDays: 2, shard: THERE })).toMatchObject([
      { dropped: ['events_default', 'actions_default'], deletedKeys: 0 },
    ]);
    await ledger.events.replay('Mirror', { time: new Date(0) }, { shard: HERE });
    await until(() => handler.calls === 2);
    expect(await ledger.balance(mirror)).toBe('10');
  }, 120_000);
});
