import { test } from 'vitest';
import { ALICE, CreditAction, HERE } from '../execution/test-support/accounts.js';
import { Decimal } from '../domain/decimal.js';
import { describeOn } from '../testing/databases-vitest.js';
import { seededRandom, writeLate } from './test-support/late-writers.js';
import { handlerOf, ledgerMigrations, openLedger, until } from './test-support/ledger.js';

describeOn('postgresql', 'rates', (harness) => {
  test('empty', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, dataSource: { maximumPoolSize: 40 } });
    await writeLate(databases.database(HERE), { writers: 8, events: 200_000, largest: 1000, longestPauseMs: 0, random: seededRandom(1) });
    let count = 0;
    const ledger = openLedger(databases, { handlers: [handlerOf('Empty', () => void (count += 1))] });
    ledger.events.start();
    await until(() => count > 0);
    const t = performance.now();
    await until(() => count >= 200_000, 100_000);
    console.log('empty', 200_000 / ((performance.now() - t) / 1000));
    await ledger.events.stop();
    console.log(ledger.warnings);
  }, 120_000);
  test('action', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, dataSource: { maximumPoolSize: 40 } });
    let count = 0;
    const w = openLedger(databases);
    const accounts = await Promise.all(Array.from({ length: 500 }, () => w.open()));
    const N = 20_000;
    await writeLate(databases.database(HERE), { writers: 8, events: N, largest: 1000, longestPauseMs: 0, random: seededRandom(1) });
    const ledger = openLedger(databases, {
      handlers: [handlerOf('Act', async (e) => {
        const account = accounts[count % 500] ?? '';
        count += 1;
        await e.execute(CreditAction, { account, amount: new Decimal(1) });
        done += 1;
      }, { concurrency: 256 })],
    });
    let done = 0;
    ledger.events.start();
    await until(() => done > 0);
    const t = performance.now();
    const cpu = process.cpuUsage();
    const d0 = done;
    await until(() => done >= N, 100_000);
    const used = process.cpuUsage(cpu);
    console.log('action', N / ((performance.now() - t) / 1000), 'cpu us per event', (used.user + used.system) / (N - d0), ALICE);
    {
      const t = performance.now();
      const cpu = process.cpuUsage();
      let n = 0;
      await Promise.all(Array.from({ length: 160 }, async () => { while (n < N) { const a = accounts[n++ % 500] ?? ''; await w.credit(a); } }));
      const used = process.cpuUsage(cpu);
      console.log('plain', N / ((performance.now() - t) / 1000), 'cpu us per event', (used.user + used.system) / N);
    }
    await ledger.events.stop();
    console.log(ledger.warnings);
  }, 120_000);
  test('latency', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, dataSource: { maximumPoolSize: 40 } });
    const w = openLedger(databases);
    const seen = new Map<string, number>();
    const ledger = openLedger(databases, { handlers: [handlerOf('L', (e) => void seen.set(e.modelId + e.modelVersion, performance.now()))] });
    ledger.events.start();
    w.events.start();
    const account = await w.open();
    await w.credit(account);
    await until(() => seen.size > 0);
    await new Promise((r) => setTimeout(r, 3000));
    const lat: number[] = [];
    for (let i = 0; i < 200; i += 1) {
      const a = await w.credit(account);
      const t = performance.now();
      await new Promise((r) => setTimeout(r, Math.random() * 30));
      await until(() => seen.has(account + a.version));
      lat.push((seen.get(account + a.version) ?? 0) - t);
    }
    lat.sort((a, b) => a - b);
    console.log('latency p50 p95 max', lat[100], lat[190], lat[199]);
    await ledger.events.stop();
    await w.events.stop();
    console.log(ledger.warnings, w.warnings);
  }, 120_000);
});
