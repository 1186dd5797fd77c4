import { expect, test } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { startPostgres } from '../../test/databases/server.js';
import { prepareServer } from '../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { describeOn } from '../../test/databases/vitest.js';
import { postgresAdapter } from '../databases.js';
import { until } from '../events/test-support/ledger.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { mortalDatabases } from './test-support/mortal-databases.js';
import {
  initiate,
  openPurses,
  readEndings,
  SURVIVOR_LEASE_MS,
  walletProcess,
} from './test-support/transfers.js';

const TRANSFERS = 20;
const DOWN_MS = 7_000;
/** Number of processes that are killed, one after the other, while the destination is down. */
const KILLED = 3;

describeOn('postgresql', 'Transfers whose destination is down for a while', (harness) => {
  test('all arrive once it is available again, although their process was killed meanwhile', async () => {
    const far = await startPostgres();
    const near = (await harness.makeTopology({ shards: [GLOBAL_SHARD], migrations: application.migrations }))
      .groups[0]?.members[0];
    if (near === undefined) throw new Error('There is one');
    const user = await prepareServer(far, MEXICO_SHARD, application.migrations);
    const topology = topologyOf([
      [GLOBAL_SHARD, near.primary],
      [MEXICO_SHARD, testDataSource(serverUrl(far, far.database), user)],
    ]);
    const healthy = new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
    const rows = async (text: string) =>
      (await healthy.database(GLOBAL_SHARD).query({ text, values: [] })).rows;
    const writer = walletProcess(healthy, false);
    try {
      const { sources, destinations } = await openPurses(writer);
      const [source] = sources;
      const destination = destinations.find((id) => id.resolveShardIdentifier() === MEXICO_SHARD);
      if (source === undefined || destination === undefined) throw new Error('There are both');
      await far.kill();
      const since = performance.now();
      for (let count = 0; count < TRANSFERS; count += 1) await initiate(writer, source, destination, 1);
      for (let life = 1; life <= KILLED; life += 1) {
        const { databases, arm, dead } = mortalDatabases(healthy);
        const mortal = walletProcess(databases, true);
        // The process holds the lease, and has failed for this part of the time.
        await until(async () => (await rows(HELD)).length > 0);
        await until(() => performance.now() - since > (DOWN_MS * life) / KILLED);
        arm(1, false);
        await until(dead);
        await mortal.events.stop(0);
        await databases.close(0);
      }
      await far.start();
      const survivor = walletProcess(healthy, true, SURVIVOR_LEASE_MS);
      await until(async () => {
        // The pool discovers broken connections to the old server one by one.
        const found = await readEndings(healthy).catch(() => undefined);
        const endings = [...(found?.values() ?? [])];
        return (
          endings.length > 0 && endings.every(({ state }) => state === 'COMPLETED' || state === 'REFUNDED')
        );
      });
      const endings = [...(await readEndings(healthy)).values()];
      const completed = { state: 'COMPLETED', credits: 1, refunds: 0 };
      expect(endings).toEqual(Array.from({ length: TRANSFERS }, () => completed));
      expect(await survivor.events.deadLetters.list()).toEqual([]);
      expect(await rows("SELECT FROM eventlog.sagas WHERE state = 'PARKED'")).toEqual([]);
      await survivor.events.stop();
    } finally {
      await writer.events.stop(0);
      await healthy.close(0);
      await far.destroy();
    }
  }, 240_000);
});

const HELD = `SELECT FROM eventlog.consumers AS c JOIN eventlog.delivery_processes AS p ON p.id = c.holder
  WHERE c.leased_until > clock_timestamp() AND c.name = 'TransferSaga'
    AND p.id = (SELECT id FROM eventlog.delivery_processes ORDER BY heartbeat DESC LIMIT 1)`;
