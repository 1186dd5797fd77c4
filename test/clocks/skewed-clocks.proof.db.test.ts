import { afterEach, expect, test, vi } from 'vitest';
import { TransferInitiateAction } from '../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import { application } from '../../examples/wallet/generated/application.js';
import type { Wallet } from '../../examples/wallet/models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { ApiKeyStore } from '../../runtime/access/api-key-store.js';
import { apiKeys } from '../../runtime/access/api-keys.js';
import type { RequestHead } from '../../runtime/access/authenticator.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { type Application, assembleApplication } from '../../runtime/application.js';
import { useTime } from '../../runtime/concurrency/time.js';
import type { Clock } from '../../runtime/domain/clock.js';
import { currency } from '../../runtime/domain/currency.js';
import { Decimal } from '../../runtime/domain/decimal.js';
import type { KnownPrincipal } from '../../runtime/domain/principal.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { ShardsOptions } from '../databases/databases.js';
import { PATIENT } from '../databases/patient.js';
import { describeOnEachAdapter } from '../databases/vitest.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How far the clock of a process is ahead of its databases' clocks. */
const SKEWS: readonly (readonly [string, number])[] = [
  ['two hours ahead', 2 * HOUR_MS],
  ['ten minutes behind', -10 * MINUTE_MS],
  ['thirty hours ahead', 30 * HOUR_MS],
];
const TRANSFERS = 30;
const ALICE = { name: 'alice', claims: { role: 'operator' } } as const;

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

async function openWallet({ executor }: Application, country: string): Promise<Wallet> {
  return executor.execute(ALICE, WalletCreateAction, {
    country,
    ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
    currency: currency('EUR'),
    initialBalance: new Decimal(1_000),
  });
}

/** Starts transfers from the global shard to Mexico. */
async function startTransfers(process: Application): Promise<void> {
  const [source, destination] = [await openWallet(process, 'US'), await openWallet(process, 'MX')];
  const params = { sourceId: source.id, destinationId: destination.id, amount: new Decimal(1) };
  for (let count = 0; count < TRANSFERS; count += 1)
    await process.executor.execute(ALICE, TransferInitiateAction, params);
}

/** The first column of the first row on the global shard. */
async function ask(databases: DatabaseRegistry, text: string): Promise<unknown> {
  return (await databases.database(GLOBAL_SHARD).query({ text, values: [] })).rows[0]?.[0];
}

/** Transfers by state. */
async function transfersIn(databases: DatabaseRegistry): Promise<unknown> {
  const text = 'SELECT state, count(*)::int FROM transfers GROUP BY state ORDER BY state';
  return (await databases.database(GLOBAL_SHARD).query({ text, values: [] })).rows;
}

async function untilSettled(databases: DatabaseRegistry): Promise<void> {
  const text = "SELECT count(*)::int FROM eventlog.sagas WHERE state <> 'ENDED'";
  await until(
    async () => (await databases.database(GLOBAL_SHARD).query({ text, values: [] })).rows[0]?.[0] === 0,
  );
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
    await untilSettled(databases);
    expect(await transfersIn(databases)).toEqual([['COMPLETED', TRANSFERS]]);
  });

  test.each(SKEWS)('%s starts transfers that another one completes', async (_, skewMs) => {
    const databases = await shards();
    await startTransfers(processOf(databases, skewMs));
    processOf(databases, 0, true);
    await untilSettled(databases);
    expect(await transfersIn(databases)).toEqual([['COMPLETED', TRANSFERS]]);
  });

  test.each(SKEWS)('%s keeps an idempotency key as long as it is configured', async (_, skewMs) => {
    const databases = await shards();
    const process = processOf(databases, skewMs);
    const { id: walletId } = await openWallet(process, 'MX');
    for (const each of [process, processOf(databases, 0), processOf(databases, skewMs)]) {
      const once = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey('once').build();
      await each.executor.execute(
        ALICE,
        WalletDepositMoneyAction,
        { walletId, amount: new Decimal(5) },
        once,
      );
    }
    const read = async (text: string): Promise<unknown> =>
      (await databases.database(MEXICO_SHARD).query({ text, values: [] })).rows[0]?.[0];
    expect(await read('SELECT balance::int FROM wallets')).toBe(1_005);
    const kept = await read(
      "SELECT expires_date - created_date = interval '5 minutes' AND created_date <= now() FROM eventlog.idempotency_keys",
    );
    expect(kept).toBe(true);
  });

  test.each(SKEWS)('%s deletes only what is old enough', async (_, skewMs) => {
    const databases = await shards({ owner: 'retention' });
    const process = processOf(databases, skewMs);
    await ask(
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
    await openWallet(processOf(databases, skewMs), 'US');
    const isNow =
      "SELECT bool_and(created_date BETWEEN now() - interval '1 minute' AND now()) FROM eventlog.events";
    expect(await ask(databases, isNow)).toBe(true);
  });
});

function idOf(number: number): string {
  return `0190b8a0-0000-7000-8000-00000000000${number}`;
}
