import { test } from 'vitest';
import { HERE } from '../execution/test-support/accounts.js';
import { describeOn } from '../testing/databases-vitest.js';
import { handlerOf, ledgerMigrations, openLedger, until } from './test-support/ledger.js';

describeOn('postgresql', 'rates', (harness) => {
  test('latency', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, dataSource: { maximumPoolSize: 40 } });
    const db = databases.database(HERE);
    const orig = db.query.bind(db);
    let log = false;
    let t0 = 0;
    (db as any).query = async (s: any, o: any) => {
      const a = performance.now() - t0;
      const r = await orig(s, o);
      if (log) console.log(a.toFixed(1), (performance.now() - t0).toFixed(1), s.name ?? s.text.slice(0, 40), r.rowCount);
      return r;
    };
    const seen = new Map<string, number>();
    const ledger = openLedger(databases, { handlers: [handlerOf('L', (e) => void seen.set(e.modelId + e.modelVersion, performance.now()))] });
    ledger.events.start();
    const account = await ledger.open();
    await ledger.credit(account);
    await until(() => seen.size > 0);
    await new Promise((r) => setTimeout(r, 3000));
    log = true;
    for (let i = 0; i < 3; i += 1) {
      t0 = performance.now();
      const a = await ledger.credit(account);
      const t = performance.now() - t0;
      await until(() => seen.has(account + a.version));
      console.log('committed', t, 'handled', (seen.get(account + a.version) ?? 0) - t0);
      await new Promise((r) => setTimeout(r, 300));
    }
    log = false;
    await ledger.events.stop();
  }, 120_000);
});
