import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { CreditAction, HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { seededRandom, writeLate } from '../test-support/late-writers.js';
import { handlerOf, type Ledger, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';

/** Rates are meaningful only on a quiet machine: `npm run proof:events`. */
const measured = test.skipIf(process.env['FW_PROOF_EVENTS'] === undefined);
const EMPTY = { events: 200_000, perSecond: 10_000 };
const ACTIONS = { events: 20_000, perSecond: 3_000 };
const LATENCY = { commits: 200, p95Ms: 50 };

async function database(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  const dataSource = { maximumPoolSize: 40 };
  return harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, dataSource });
}

function fill(databases: DatabaseRegistry, events: number): Promise<ReadonlyMap<string, number>> {
  const options = { writers: 16, events, largest: 500, longestPauseMs: 0, random: seededRandom(1) };
  return writeLate(databases.database(HERE), options);
}

/** Events per second, from the first one handled to the last. */
async function rateOf(ledger: Ledger, handled: () => number, events: number): Promise<number> {
  ledger.events.start();
  await until(() => handled() > 0);
  const [before, startedMs] = [handled(), performance.now()];
  await until(() => handled() >= events, 120_000);
  const rate = (events - before) / ((performance.now() - startedMs) / 1_000);
  await ledger.events.stop();
  return Math.round(rate);
}

describeOn('postgresql', 'On one shard, delivery', (harness) => {
  measured(
    `takes ${EMPTY.perSecond} events per second through an empty handler`,
    async () => {
      const databases = await database(harness);
      await fill(databases, EMPTY.events);
      let handled = 0;
      const count = (): void => {
        handled += 1;
      };
      const ledger = openLedger(databases, { handlers: [handlerOf('Empty', count)] });
      const rate = await rateOf(ledger, () => handled, EMPTY.events);
      console.info(`empty handler: ${rate} events/s`);
      expect(rate).toBeGreaterThan(EMPTY.perSecond);
    },
    180_000,
  );

  measured(
    `takes ${ACTIONS.perSecond} events per second through a handler that starts an action`,
    async () => {
      const databases = await database(harness);
      const writer = openLedger(databases);
      const accounts = await Promise.all(Array.from({ length: 500 }, () => writer.open()));
      await fill(databases, ACTIONS.events);
      let [started, handled] = [0, 0];
      const handler = handlerOf(
        'Act',
        async (envelope) => {
          const account = accounts[started % accounts.length] ?? '';
          started += 1;
          await envelope.execute(CreditAction, { account, amount: new Decimal(1) });
          handled += 1;
        },
        { concurrency: 256 },
      );
      const ledger = openLedger(databases, { handlers: [handler] });
      const rate = await rateOf(ledger, () => handled, ACTIONS.events);
      console.info(`handler that starts an action: ${rate} events/s`);
      expect(rate).toBeGreaterThan(ACTIONS.perSecond);
    },
    180_000,
  );

  measured(
    `brings a commit to a handler of another process within ${LATENCY.p95Ms} ms at the 95th percentile`,
    async () => {
      const databases = await database(harness);
      const writer = openLedger(databases);
      const handledMs = new Map<number, number>();
      const handler = handlerOf(
        'Clock',
        ({ modelVersion }) => void handledMs.set(modelVersion, performance.now()),
      );
      const reader = openLedger(databases, { handlers: [handler] });
      const idle = openLedger(databases, { handlers: [handler] });
      reader.events.start();
      idle.events.start();
      const account = await writer.open();
      await writer.credit(account);
      await until(() => handledMs.size > 0);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const delays: number[] = [];
      for (let commit = 0; commit < LATENCY.commits; commit += 1) {
        const { version } = await idle.credit(account);
        const committedMs = performance.now();
        await until(() => handledMs.has(version));
        delays.push((handledMs.get(version) ?? 0) - committedMs);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      }
      await Promise.all([reader.events.stop(), idle.events.stop()]);
      delays.sort((a, b) => a - b);
      const [median, p95] = [0.5, 0.95].map((part) => delays[Math.floor(part * delays.length)] ?? 0);
      console.info(
        `commit to handler: median ${median?.toFixed(1)} ms, 95th percentile ${p95?.toFixed(1)} ms`,
      );
      expect(p95).toBeLessThan(LATENCY.p95Ms);
    },
    120_000,
  );
});
