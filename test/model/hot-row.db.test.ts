import { expect, test } from 'vitest';
import { postgresAdapter } from '../../runtime/databases.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { describeOn } from '../../runtime/testing/databases-vitest.js';
import { fightOverOneRow } from './hot-row.js';
import { migrations } from './models.js';
import { SHARDS } from './run-model.js';

describeOn('postgresql', 'two processes that fight over one row', (harness) => {
  test('x', { timeout: 60_000 }, async () => {
    for (const [peers, chaining, concurrency] of [[1, true, 32], [2, true, 32], [2, true, 32], [1, false, 32]] as const) {
      const topology = await harness.makeTopology({ shards: SHARDS, migrations });
      const databases = Array.from({ length: peers }, () => new DatabaseRegistry(topology, { adapters: [postgresAdapter] }));
      const progress = await fightOverOneRow({ databases, concurrency, durationMs: Number(process.env['FW_MS'] ?? 3_000), chaining });
      for (const { applied, failed, ends, latenciesMs } of progress) {
        latenciesMs.sort((a, b) => a - b);
        const at = (q: number) => Math.round(latenciesMs[Math.floor(latenciesMs.length * q)] ?? 0);
        console.log(JSON.stringify({ peers, chaining, concurrency, applied, failed: [...failed], ends: [...ends], p50: at(0.5), p99: at(0.99), max: at(0.9999) }));
      }
      await Promise.all(databases.map((d) => d.close(0)));
    }
    expect(1).toBe(1);
  });
});
