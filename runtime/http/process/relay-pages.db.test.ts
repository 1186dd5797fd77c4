import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ledgerMigrations } from '../../events/test-support/ledger.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import { serveRelayPages } from './relay-pages.js';

describeOnEachAdapter('A process that relays', (harness) => {
  test('serves health and metrics, and nothing of an application', async () => {
    const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const counts = { accepted: 7, deferred: 1, rejected: 2, accepting: false };
    const statistics = () => [{ sink: 'orders', shard: HERE, ...counts }];
    const pages = await serveRelayPages({
      databases,
      statistics,
      lag: async () => [],
      host: '127.0.0.1',
      port: 0,
    });
    const get = (path: string): Promise<Response> => fetch(`${pages.url}${path}`);
    try {
      expect((await get('/health/live')).status).toBe(200);
      const ready = await get('/health/ready');
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({ status: 'ready', shards: [{}, {}] });
      const metrics = await (await get('/metrics')).text();
      expect(metrics).toContain('fw_relay_messages_total{shard="(0, 0)",sink="orders"} 7');
      expect(metrics).toContain('fw_relay_receiver_down{shard="(0, 0)",sink="orders"} 1');
      expect(metrics).toContain('fw_shard_connections_open{shard="(0, 0)"');
      for (const path of ['/docs', '/openapi.json', '/']) expect((await get(path)).status, path).toBe(404);
    } finally {
      await pages.close();
    }
    await expect(get('/health/live')).rejects.toThrow();
  });
});
