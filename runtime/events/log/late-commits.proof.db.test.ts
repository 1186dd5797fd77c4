import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { seededRandom, writeLate } from '../test-support/late-writers.js';
import { handlerOf, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';

/** `npm run proof:events` sets it to a million. */
const EVENTS = Number(process.env['FW_PROOF_EVENTS'] ?? 10_000);
const SEED = Number(process.env['FW_PROOF_SEED'] ?? 1);
const PROCESSES = 3;
const HANDLERS = ['First', 'Second', 'Third'];

describeOn('postgresql', 'Delivery under late commits', (harness) => {
  test(
    `brings ${EVENTS} events by 32 writers to every handler, in order per model, once (seed ${SEED})`,
    async () => {
      const databases = await harness.makeShards({
        shards: [HERE],
        migrations: ledgerMigrations,
        dataSource: { maximumPoolSize: 80, statementTimeoutMs: 60_000 },
      });
      const last = new Map(HANDLERS.map((name) => [name, new Map<string, number>()]));
      const counts = new Map<string, number>();
      const disorder: string[] = [];
      const handlers = HANDLERS.map((name) =>
        handlerOf(name, ({ modelId, modelVersion }) => {
          const versions = last.get(name);
          const before = versions?.get(modelId) ?? 0;
          if (modelVersion !== before + 1)
            disorder.push(`${name}: ${modelId} ${modelVersion} after ${before}`);
          versions?.set(modelId, modelVersion);
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }),
      );
      const processes = Array.from({ length: PROCESSES }, () => openLedger(databases, { handlers }));
      for (const { events } of processes) events.start();
      const startedMs = performance.now();
      const random = seededRandom(SEED);
      const written = await writeLate(databases.database(HERE), {
        writers: 32,
        events: EVENTS,
        largest: EVENTS > 100_000 ? 60 : 8,
        longestPauseMs: 20,
        random,
      });
      const writtenMs = performance.now() - startedMs;
      await until(() => HANDLERS.every((name) => (counts.get(name) ?? 0) >= EVENTS), 60_000 + EVENTS);
      const handledMs = performance.now() - startedMs;
      await Promise.all(processes.map(({ events }) => events.stop()));
      expect(disorder).toEqual([]);
      for (const name of HANDLERS) expect(last.get(name)).toEqual(written);
      const rate = (ms: number): string => `${Math.round(EVENTS / (ms / 1_000))}/s`;
      console.info(
        `${EVENTS} events: written ${rate(writtenMs)}, handled by each of ${HANDLERS.length} handlers ${rate(handledMs)}, ` +
          `${Math.round(handledMs - writtenMs)} ms behind the last commit`,
      );
    },
    180_000 + EVENTS,
  );
});
