import { type Application, ExecutionConfiguration, openApplication, ShardBusyError } from 'fw-actions';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { WalletCalls } from '../../examples/wallet/test-support/wallet-calls.js';
import type { ShardSession } from '../../runtime/sharding/shard-database.js';
import { describeOn } from '../databases/vitest.js';

const CLIENTS = 3;

describeOn('postgresql', 'While all connections of a shard are taken', (harness) => {
  let opened: Application;
  let calls: WalletCalls;
  let taken: ShardSession[];

  beforeEach(async () => {
    const sharding = await harness.makeTopology({
      shards: [GLOBAL_SHARD, MEXICO_SHARD],
      migrations: application.migrations,
      dataSource: { maximumPoolSize: CLIENTS, connectTimeoutMs: 800 },
    });
    opened = await openApplication(application, {
      namespace: 'faults',
      sharding,
      collaborators: {},
      deliver: false,
      migrateAtStart: false,
    });
    calls = new WalletCalls(opened);
    taken = [];
  });
  afterEach(async () => {
    for (const session of taken) session.release();
    await opened.close();
  });

  async function take(): Promise<void> {
    for (let count = 0; count < CLIENTS; count += 1)
      taken.push(await opened.databases.database(MEXICO_SHARD).acquire());
  }

  it('executions there are refused as busy well before their deadline, and others continue', async () => {
    const [mexican, other] = await Promise.all([calls.create('MX'), calls.create('US')]);
    await take();
    let ended = 0;
    const startedMs = performance.now();
    const refused = [calls.deposit(mexican, 1), calls.create('MX')].map((execution) =>
      execution
        .then(
          () => 'applied',
          (error: unknown) => (error instanceof ShardBusyError ? performance.now() - startedMs : error),
        )
        .finally(() => {
          ended += 1;
        }),
    );
    expect((await calls.deposit(other, 1)).version).toBe(2);
    expect(ended).toBe(0);
    // Refused as busy, before their deadlines.
    for (const tookMs of await Promise.all(refused)) expect(tookMs).toEqual(expect.any(Number));
    for (const session of taken.splice(0)) session.release();
    expect((await calls.deposit(mexican, 1)).version).toBe(2);
  });

  it('an execution whose deadline passes first has written nothing, and never will', async () => {
    await calls.create('MX');
    await take();
    const hasty = ExecutionConfiguration.Builder.executionConfiguration().timeoutMs(300).build();
    const [refused, patient] = await Promise.allSettled([calls.create('MX', {}, hasty), calls.create('MX')]);
    expect(refused).toMatchObject({
      reason: { code: expect.stringMatching(/^FW_(DEADLINE_EXCEEDED|SHARD_BUSY)$/) },
    });
    expect(patient.status).toBe('rejected');
    for (const session of taken.splice(0)) session.release();
    await calls.create('MX');
    const { rows } = await opened.databases
      .database(MEXICO_SHARD)
      .query({ text: 'select count(*)::int from eventlog.actions', values: [] });
    expect(rows).toEqual([[2]]);
  });
});
