import { afterEach, expect, test } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { WalletCalls } from '../../examples/wallet/test-support/wallet-calls.js';
import { ApiKeyStore } from '../../runtime/access/api-key-store.js';
import { apiKeys } from '../../runtime/access/api-keys.js';
import type { RequestHead } from '../../runtime/access/authenticator.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { type Application, assembleApplication } from '../../runtime/application.js';
import { useTime } from '../../runtime/concurrency/time.js';
import type { Clock } from '../../runtime/domain/clock.js';
import type { KnownPrincipal } from '../../runtime/domain/principal.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { ShardsOptions } from '../databases/databases.js';
import { PATIENT } from '../databases/patient.js';
import { describeOnEachAdapter } from '../databases/vitest.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How far the clock of a process is ahead of its databases' clocks. */
const SKEWS: readonly (readonly [string, number])[] = [
  ['two hours ahead', 2 * HOUR_MS],
  ['ten minutes behind', -10 * MINUTE_MS],
  ['thirty hours ahead', 30 * HOUR_MS],
];
const TRANSFERS = 30;

const open: Application[] = [];
let restoreTime = (): void => {};

afterEach(async () => {
  restoreTime();
  await Promise.all(open.splice(0).map(({ events }) => events.stop(0)));
});

/** A process of the wallet. All code of the runtime has the clock of the last one. */
function processOf(databases: DatabaseRegistry, skewMs: number, deliver = false): Application {
  const clock: Clock = { now: () => new Date(Date.now() + skewMs) };
  restoreTime = useTime({ dateMs: () => Date.now() + skewMs });
  const process = assembleApplication(application, databases, {
    namespace: 'test.clocks',
    collaborators: {},
    clock,
    deliver,
    execution: { ...PATIENT, keyRetentionMs: 5 * MINUTE_MS },
    warn: () => {},
  });
  open.push(process);
  return process;
}

/** Starts transfers from the global shard to Mexico. */
async function startTransfers(process: Application): Promise<void> {
  const calls = new WalletCalls(process);
  const [source, destination] = [await calls.create('US'), await calls.create('MX')];
  for (let count = 0; count < TRANSFERS; count += 1) await calls.transfer(source, destination.id, 1);
}

/** The rows of a statement. */
async function rowsOf(
  databases: DatabaseRegistry,
  text: string,
  shard = GLOBAL_SHARD,
): Promise<readonly unknown[]> {
  return (await databases.database(shard).query({ text, values: [] })).rows;
}

/** Lets a process deliver until all transfers are completed. */
async function expectCompleted(databases: DatabaseRegistry): Promise<void> {
  const running = "SELECT 1 FROM eventlog.sagas WHERE state <> 'ENDED'";
  await until(async () => (await rowsOf(databases, running)).length === 0);
  const states = 'SELECT state, count(*)::int FROM transfers GROUP BY state';
  expect(await rowsOf(databases, states)).toEqual([['COMPLETED', TRANSFERS]]);
}

describeOnEachAdapter('A process whose clock differs from that of its databases', (harness) => {
  const shards = (options: ShardsOptions = {}): Promise<DatabaseRegistry> =>
    harness.makeShards({
      shards: [GLOBAL_SHARD, MEXICO_SHARD],
      migrations: application.migrations,
      ...options,
    });

  test.each(SKEWS)('%s completes the transfers that another one has started', async (_, skewMs) => {
    const databases = await shards();
    await startTransfers(processOf(databases, 0));
    processOf(databases, skewMs, true);
    await expectCompleted(databases);
  });

  test.each(SKEWS)('%s starts transfers that another one completes', async (_, skewMs) => {
    const databases = await shards();
    await startTransfers(processOf(databases, skewMs));
    processOf(databases, 0, true);
    await expectCompleted(databases);
  });

  test.each(SKEWS)('%s keeps an idempotency key as long as it is configured', async (_, skewMs) => {
    const databases = await shards();
    const process = processOf(databases, skewMs);
    const wallet = await new WalletCalls(process).create('MX');
    for (const each of [process, processOf(databases, 0), processOf(databases, skewMs)]) {
      const once = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey('once').build();
      await new WalletCalls(each).deposit(wallet, 5, once);
    }
    const balances = await rowsOf(databases, 'SELECT balance::int FROM wallets', MEXICO_SHARD);
    expect(balances).toEqual([[105]]);
    const kept =
      "SELECT expires_date - created_date = interval '5 minutes' AND created_date <= now() FROM eventlog.idempotency_keys";
    expect(await rowsOf(databases, kept, MEXICO_SHARD)).toEqual([[true]]);
  });

  test.each(SKEWS)('%s deletes only what is old enough', async (_, skewMs) => {
    const databases = await shards({ owner: 'retention' });
    const process = processOf(databases, skewMs);
    await rowsOf(
      databases,
      `INSERT INTO eventlog.schedules (id, state, due_date, next_date, action_name, params, principal, action_id,
         created_date, completed_date)
       SELECT id, 'done', day, day, 'Test', '{}', 'alice', id, day, day
       FROM (VALUES ('${idOf(1)}'::uuid, now()), ('${idOf(2)}', now() - interval '3 days')) AS d (id, day)`,
    );
    const [report] = await process.events.retain({ keepDays: 1 });
    expect(report?.deletedSchedules).toBe(1);
  });

  test.each(SKEWS)('%s accepts an API key until it expires', async (_, skewMs) => {
    const databases = await shards();
    processOf(databases, skewMs);
    const store = new ApiKeyStore(databases.database(GLOBAL_SHARD));
    const authenticate = apiKeys({ store });
    const request = async (leftMs: number): Promise<KnownPrincipal> => {
      const expiresDate = new Date(Date.now() + leftMs);
      const key = await store.create({ principal: 'alice', expiresDate });
      return authenticate({
        headers: { 'x-api-key': key },
      } as unknown as RequestHead) as Promise<KnownPrincipal>;
    };
    expect(await request(MINUTE_MS)).toMatchObject({ name: 'alice' });
    await expect(request(-1_000)).rejects.toThrow('has expired');
  });

  test.each(SKEWS)('%s writes events with the dates of the database', async (_, skewMs) => {
    const databases = await shards();
    await new WalletCalls(processOf(databases, skewMs)).create('US');
    const isNow =
      "SELECT bool_and(created_date BETWEEN now() - interval '1 minute' AND now()) FROM eventlog.events";
    expect(await rowsOf(databases, isNow)).toEqual([[true]]);
  });
});

function idOf(number: number): string {
  return `0190b8a0-0000-7000-8000-00000000000${number}`;
}
