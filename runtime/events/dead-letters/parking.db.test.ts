import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { seededRandom } from '../test-support/late-writers.js';
import { handlerOf, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';

const ACCOUNTS = 5;
const EVENTS = 60;

describeOnEachAdapter('Parking and resuming under a handler that fails at random', (harness) => {
  test.each([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
  ])('keeps models in order and loses nothing (seed %i, transactional %s)', async (seed, transactional) => {
    const random = seededRandom(seed);
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const handled = new Map<string, number[]>();
    let failing = 0.4;
    const handler = handlerOf(
      'Moody',
      async ({ modelId, modelVersion }) => {
        if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, 1));
        if (random() < failing) throw new Error('moody');
        handled.set(modelId, [...(handled.get(modelId) ?? []), modelVersion]);
      },
      { maximumAttempts: 2, retryDelayMs: 1, transactional },
    );
    const ledger = openLedger(databases, { handlers: [handler] });
    ledger.events.start();
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => ledger.open()));
    const versions = new Map<string, number>();
    for (let sent = 0; sent < EVENTS; sent += 1) {
      const account = accounts[Math.floor(random() * ACCOUNTS)] ?? '';
      versions.set(account, (await ledger.credit(account)).version);
      if (random() < 0.1) await ledger.events.deadLetters.retry({ modelId: account });
    }
    failing = 0;
    await until(async () => {
      await ledger.events.deadLetters.retry({});
      await new Promise((resolve) => setTimeout(resolve, 50));
      const letters = await ledger.events.deadLetters.list();
      const [lag] = await ledger.events.lag();
      return letters.length === 0 && lag?.consumers.every(({ behind }) => behind === 0) === true;
    }, 20_000);
    await ledger.events.stop();
    const once = [...handled].map(([id, seen]) => [id, transactional ? [...new Set(seen)] : seen]);
    const expected = [...versions].map(([id, last]) => [
      id,
      Array.from({ length: last - 1 }, (_, index) => index + 2),
    ]);
    expect(Object.fromEntries(once)).toEqual(Object.fromEntries(expected));
  });
});

describeOnEachAdapter('A release that fails every event', (harness) => {
  test('has one warning a second, and the next one has the number of the others', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const fail = () => Promise.reject(new Error('broken'));
    const ledger = openLedger(databases, { handlers: [handlerOf('Broken', fail, { maximumAttempts: 1 })] });
    const accounts = await Promise.all(Array.from({ length: 20 }, () => ledger.open()));
    await Promise.all(accounts.map((account) => ledger.credit(account)));
    ledger.events.start();
    const seen = (): readonly string[] => ledger.warnings.filter((each) => each.includes('is parked'));
    await until(() => seen().some((each) => / more since the last line$/.test(each)), 20_000);
    await ledger.events.stop();
    expect(seen().length).toBeLessThan(20);
  });
});

describeOnEachAdapter('Thousands of parked models', (harness) => {
  test('are retried and discarded by several short statements', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const ledger = openLedger(databases, { handlers: [handlerOf('Stuck', async () => {})] });
    const database = databases.database(HERE);
    await database.query({ text: FILL, values: [] });
    const times = async (column: string): Promise<unknown> =>
      (
        await database.query({
          text: `SELECT count(DISTINCT ${column}), count(${column}) FROM eventlog.dead_letters`,
          values: [],
        })
      ).rows[0];
    expect(await ledger.events.deadLetters.retry({})).toBe(2_500);
    expect(await times('retry_date')).toEqual(['3', '5000']);
    expect(await ledger.events.deadLetters.discard({ handler: 'Stuck' }, 'no longer needed')).toBe(5_000);
    expect(await times('discarded_date')).toEqual(['3', '5000']);
    expect(await ledger.events.deadLetters.retry({})).toBe(0);
  });
});

/** Two parked events of each of 2,500 models. */
const FILL = `WITH stuck AS (INSERT INTO eventlog.consumers (name, handler, identity, kind, epoch, transaction_id, position)
  VALUES ('Stuck', 'Stuck', 'Stuck', 'live', 1, '0', 0))
INSERT INTO eventlog.dead_letters (consumer, event_id, model_name, model_id, event_type, epoch, transaction_id, position, event, state)
SELECT 'Stuck', gen_random_uuid(), 'Account', (nr % 2500)::text, 'Credited', 1, '1', nr, '{}',
  CASE WHEN nr <= 2500 THEN 'failed' ELSE 'waiting' END FROM generate_series(1, 5000) AS nr`;
