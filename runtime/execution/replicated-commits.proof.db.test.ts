import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PostgresServer } from '../../test/databases/server.js';
import { type ReplicatedServers, startReplicated } from '../../test/databases/standby.js';
import { cloneDatabase } from '../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { ActionPlan } from '../action/action-plan.js';
import { type PerformScope, runInPerformScope } from '../action/perform-scope.js';
import type { MemberConfig } from '../config/types.js';
import { postgresAdapter } from '../databases.js';
import { systemClock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import { CommitOutcomeUnknownError } from '../errors.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { statement } from '../sharding/test-support/statements.js';
import {
  ALICE,
  accountMigrations,
  CreditAction,
  configure,
  HERE,
  openBank,
  type TestBank,
} from './test-support/accounts.js';

const DATABASE = 'bank';
const PATIENT_MS = 60_000;
/** Long enough for everything except a wait for a missing standby. */
const IMPATIENT_MS = 2_000;

/** A database that waits for a standby; `admin` observes its server processes. */
interface World {
  readonly bank: TestBank;
  readonly admin: TestBank;
}

let servers: ReplicatedServers;
const opened: DatabaseRegistry[] = [];

function open(server: PostgresServer): TestBank {
  const source = testDataSource(serverUrl(server, DATABASE), server, { statementTimeoutMs: PATIENT_MS });
  const registry = new DatabaseRegistry(topologyOf([[HERE, source]]), { adapters: [postgresAdapter] });
  opened.push(registry);
  return openBank(registry);
}

beforeAll(async () => {
  servers = await startReplicated('synchronous', {}, (primary) =>
    cloneDatabase(primary, DATABASE, HERE, accountMigrations),
  );
});

afterAll(async () => {
  await Promise.all(opened.map((registry) => registry.close(0)));
  await servers?.destroy();
});

test('Inside perform every query goes to the primary, whenever it was made', async () => {
  const [source, follower] = [servers.primary, servers.standby].map((server) =>
    testDataSource(serverUrl(server, DATABASE), server),
  );
  if (source === undefined) throw new Error('No server');
  const member: MemberConfig = { shard: HERE, name: 'one', primary: source, secondary: follower, others: {} };
  const groups = [{ group: HERE.group, name: 'group', members: [member] }];
  const registry = new DatabaseRegistry({ defaultShard: HERE, groups }, { adapters: [postgresAdapter] });
  opened.push(registry);
  const { gateways } = openBank(registry);
  const made = gateways.queries(HERE, { replica: {} });
  const askedOf = async (queries: typeof made): Promise<unknown> => {
    const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(queries);
    return rows[0]?.standby === true ? 'replica' : 'primary';
  };
  const both = (): Promise<unknown> =>
    Promise.all([askedOf(made), askedOf(gateways.queries(HERE, { replica: {} }))]);
  const scope: PerformScope = {
    actionName: 'Look',
    plan: new ActionPlan(systemClock, HERE),
    signal: undefined,
    remainingMs: () => PATIENT_MS,
  };
  expect(await both()).toEqual(['replica', 'replica']);
  expect(await runInPerformScope(scope, both)).toEqual(['primary', 'primary']);
});

describe('With a missing synchronous standby', () => {
  let world: World;
  let account: string;

  beforeEach(async () => {
    await servers.attach();
    world = { bank: open(servers.primary), admin: open(servers.primary) };
    account = await world.bank.open(HERE, 10);
    await servers.detach();
  });

  /** Ends the current wait of a commit. Returns what waits afterwards. */
  async function endWait(how: 'cancel' | 'terminate'): Promise<void> {
    await expect.poll(waiting).toHaveLength(1);
    const [before] = await waiting();
    const text = `select pg_${how}_backend($1::int)`;
    await world.admin.databases.database(HERE).query({ text, values: [before?.pid] });
    await expect.poll(async () => (await waiting()).some(({ since }) => since === before?.since)).toBe(false);
  }

  async function waiting(): Promise<
    readonly { readonly pid: unknown; readonly since: string; readonly query: string }[]
  > {
    const rows = await world.admin.rows(
      HERE,
      `select pid, query_start::text, query from pg_stat_activity
        where wait_event = 'SyncRep' and datname = '${DATABASE}'`,
    );
    return rows.map(([pid, since, query]) => ({ pid, since: String(since), query: String(query) }));
  }

  /** Waits until the only waiting statement is a look-up that has found the row. */
  const untilLookUpWaits = () =>
    expect
      .poll(async () => (await waiting()).map(({ query }) => /pg_logical_emit_message/.test(query)))
      .toEqual([true]);

  test.each(['cancel', 'terminate'] as const)(
    'an action is not applied before the standby has it, even if another session may %s its wait',
    async (how) => {
      let isAnswered = false;
      const credit = creditOf(world.bank, { timeoutMs: PATIENT_MS }).finally(() => {
        isAnswered = true;
      });
      await endWait(how);
      // The wait of the fence is ended too, so that fence does not count either.
      await untilLookUpWaits();
      await endWait(how);
      await untilLookUpWaits();
      expect(await world.admin.balance(account)).toBe('15');
      expect(isAnswered).toBe(false);
      await servers.attach();
      await credit;
      expect(await world.bank.balance(account)).toBe('15');
    },
  );

  test('neither a look-up of the outcome nor a repeat under the key reports an unreplicated commit', async () => {
    const keyed = { key: 'k1', timeoutMs: IMPATIENT_MS };
    const first = creditOf(world.bank, keyed).catch((error: unknown) => error);
    await endWait('cancel');
    const failure = await first;
    expect(failure).toBeInstanceOf(CommitOutcomeUnknownError);
    const actionId = failure instanceof CommitOutcomeUnknownError ? failure.actionId : '';
    const other = open(servers.primary);
    expect(await other.executor.outcomeOf(actionId)).toBe('unknown');
    await expect(creditOf(other, { ...keyed, timeoutMs: 500 })).rejects.toMatchObject({
      code: 'FW_DEADLINE_EXCEEDED',
    });
    await servers.attach();
    expect(await other.executor.outcomeOf(actionId)).toBe('committed');
    expect((await creditOf(other, { ...keyed, timeoutMs: PATIENT_MS })).balance.toFixed()).toBe('15');
    expect(await other.balance(account)).toBe('15');
  });

  test('a transaction whose wait is cancelled is in doubt', async () => {
    const write = statement(`update accounts set nickname = 'doubtful' where id = '${account}'`);
    const manager = world.bank.databases.transactionManager(HERE);
    const transaction = manager.transaction((scope) => scope.query(write)).catch((error: unknown) => error);
    await endWait('cancel');
    expect(await transaction).toBeInstanceOf(DriverFailure);
    expect(await transaction).toMatchObject({ phase: 'in-flight' });
    const lone = world.bank.databases
      .database(HERE)
      .query(write)
      .catch((error: unknown) => error);
    await endWait('cancel');
    expect(await lone).toMatchObject({ phase: 'in-flight' });
    await servers.attach();
  });

  test('of two pipelined statements, only the one whose wait is cancelled is in doubt', async () => {
    const database = world.bank.databases.database(HERE);
    const pipeline = {};
    const read = { ...statement('select 1'), name: 'read' };
    for (let time = 0; time < 2; time += 1) await database.query(read, { pipeline });
    const text = `update accounts set nickname = $1 where id = '${account}'`;
    const write = (name: string) => database.query({ text, values: [name] }, { pipeline });
    const first = write('first').catch((error: unknown) => error);
    const second = database.query(read, { pipeline });
    await endWait('cancel');
    expect(await first).toMatchObject({ phase: 'in-flight' });
    expect((await second).rows).toEqual([[1]]);
    expect(database.stats().open).toBe(1);
    await servers.attach();
  });

  test('an unreplicated commit is not acknowledged, and applied once by a repeat after the failover', async () => {
    const keys = ['a', 'b', 'c', 'd'];
    const attempts = keys.map((key) =>
      creditOf(world.bank, { key, timeoutMs: IMPATIENT_MS }).catch((error: unknown) => error),
    );
    await endWait('terminate');
    for (const attempt of attempts) expect(await attempt).toBeInstanceOf(Error);
    await servers.failOver();
    const successor = open(servers.standby);
    const unknown = await Promise.all(attempts);
    for (const error of unknown) {
      if (error instanceof CommitOutcomeUnknownError)
        expect(await successor.executor.outcomeOf(error.actionId)).toBe('void');
    }
    for (const key of keys) await creditOf(successor, { key, timeoutMs: PATIENT_MS });
    expect(await successor.balance(account)).toBe('30');
  });

  function creditOf(
    bank: TestBank,
    { key, timeoutMs }: { readonly key?: string; readonly timeoutMs: number },
  ) {
    const configuration = configure().timeoutMs(timeoutMs);
    if (key !== undefined) configuration.idempotencyKey(key);
    const params = { account, amount: new Decimal(5) };
    return bank.executor.execute(ALICE, CreditAction, params, configuration.build());
  }
});
