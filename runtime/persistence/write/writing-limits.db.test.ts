import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { assembleApplication } from '../../application.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { newAccount } from '../../domain/test-support/account.js';
import { ValidationError } from '../../errors.js';
import {
  ALICE,
  accountApplication,
  accountMigrations,
  OpenAction,
  openBank,
} from '../../execution/test-support/accounts.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { encodeValues } from '../../sharding/wire-values.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { type FlushRequest, OversizedFlush } from '../shard-store.js';
import { SqlShardStore } from '../sql-shard-store.js';
import { openStore, planOf } from '../test-support/plans.js';
import { ShardWriter } from './shard-writer.js';
import { checkWritingLimits, DEFAULT_WRITER_LIMITS } from './writer-limits.js';

const HERE = ShardIdentifier.of(0, 0);
const MOST = 2_500;

describeOnEachAdapter('A statement', (harness) => {
  test('whose values are larger than allowed is sent in parts, and a plan that is larger goes alone', async () => {
    const sizes: number[] = [];
    const database = watched((await openStore(harness)).database, (size) => sizes.push(size));
    const store = new SqlShardStore(database, 'test', new EventCatalog([]));
    const writer = new ShardWriter(store, HERE, { ...DEFAULT_WRITER_LIMITS, maximumCharacters: MOST });
    const small = [...'abcdefghijkl'].map((row) => planOf(`+${row}`));
    const plan = planOf('+m');
    const large = { ...plan, action: { ...plan.action, params: JSON.stringify('x'.repeat(MOST)) } };
    const submitted = [...small, large].map((each) => writer.submit(each, { timeoutMs: 60_000 }));
    const outcomes = await Promise.all(submitted.map(({ outcome }) => outcome));
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'applied'));
    const { rows } = await database.query({ text: 'SELECT count(*) FROM accounts', values: [] });
    expect(rows).toEqual([['13']]);
    expect(sizes.filter((size) => size > MOST)).toHaveLength(1);
    expect(sizes.length).toBeLessThan(13);
    expect(writer.counters.splits).toBeGreaterThan(0);
  });

  test('counts all that its values take on the way', async () => {
    const sizes: number[] = [];
    const database = watched((await openStore(harness)).database, (size) => sizes.push(size));
    const store = new SqlShardStore(database, 'test', new EventCatalog([]));
    const flush = (rows: readonly string[], maximumCharacters: number): Promise<unknown> =>
      store.flush({ groups: rows.map((row) => [planOf(row)]), locked: 'skip', maximumCharacters });
    await flush(['+a', '+b'], MOST);
    const [size = 0] = sizes;
    await expect(flush(['+c', '+d'], size - 1)).rejects.toThrow(OversizedFlush);
    await expect(flush(['+c', '+d'], size)).resolves.toEqual(['applied', 'applied']);
  });

  test('may be sent behind the other one of its writer, but for those that wait for locks', async () => {
    const pipelines: unknown[] = [];
    const { database: plain } = await openStore(harness);
    const database = watched(plain, (_, options) => pipelines.push(options?.pipeline));
    const store = new SqlShardStore(database, 'test', new EventCatalog([]));
    const flush = (row: string, locked: FlushRequest['locked']): Promise<unknown> =>
      store.flush({ groups: [[planOf(row)]], locked, maximumCharacters: MOST });
    for (const locked of ['skip', 'wait', 'skip'] as const) await flush(`+${pipelines.length}`, locked);
    const [first, apart, second] = pipelines;
    expect([first, apart, second]).toEqual([expect.any(Object), undefined, expect.any(Object)]);
    expect(second).toBe(first);
  });
});

test('A refusal that is not known to be final leaves a plan in doubt, whatever it says', async () => {
  const facts = { sqlState: '23505', schema: 'eventlog', table: 'actions' };
  const flushRefused = (phase: 'answered' | 'in-flight'): Promise<unknown> => {
    const query = (): Promise<never> => Promise.reject(new DriverFailure('refused', { phase, ...facts }));
    const database = { shard: HERE, query } as unknown as ShardDatabase;
    const store = new SqlShardStore(database, 'test', new EventCatalog([]));
    return store.flush({ groups: [[planOf('+a')]], locked: 'skip', maximumCharacters: MOST });
  };
  expect(await flushRefused('answered')).toEqual(['left-out']);
  await expect(flushRefused('in-flight')).rejects.toMatchObject({ phase: 'in-flight' });
});

describeOnEachAdapter('What an application sets of its writing', (harness) => {
  test('holds for its statements, and is refused if it cannot be', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const options = { namespace: 'test', collaborators: {}, writing: { maximumBatch: 1 } };
    const { executor, statistics } = assembleApplication(accountApplication, databases, options);
    const open = (): Promise<unknown> =>
      executor.execute(ALICE, OpenAction, { shard: HERE, balance: new Decimal(1) });
    await Promise.all(Array.from({ length: 8 }, open));
    expect(statistics().map(({ written }) => [written.plans, written.statements])).toEqual([[8, 8]]);
    const never = { ...options, writing: { maximumBatch: 0 } };
    expect(() => assembleApplication(accountApplication, databases, never)).toThrow(ValidationError);
  });
});

describeOnEachAdapter('A plan with 20 million characters', (harness) => {
  test('is refused before it is sent, alone and beside others', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const bank = openBank(databases);
    const open = (nickname: string): Promise<unknown> =>
      bank.run((plan) => plan.add(newAccount(new Decimal(1), HERE).nickname(nickname).build()));
    await expect(open('x'.repeat(20_000_000))).rejects.toThrow(ValidationError);
    const [large, small] = await Promise.allSettled([open('x'.repeat(20_000_000)), open('y')]);
    expect(large).toMatchObject({ reason: { code: 'FW_VALIDATION' } });
    expect(small?.status).toBe('fulfilled');
  });
});

/** Records the size and the options of every insert statement. */
function watched(
  database: ShardDatabase,
  record: (size: number, options: CallOptions | undefined) => void,
): ShardDatabase {
  const query = (statement: Statement, options?: CallOptions): ReturnType<ShardDatabase['query']> => {
    const size = encodeValues(statement.values).reduce((sum, value) => sum + (value?.length ?? 0), 0);
    if (statement.text.includes('INSERT')) record(size, options);
    return database.query(statement, options);
  };
  return { ...database, shard: database.shard, query };
}

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a limit of %d is refused', (maximumBatch) => {
  expect(() => checkWritingLimits({ maximumBatch })).toThrow(ValidationError);
});
