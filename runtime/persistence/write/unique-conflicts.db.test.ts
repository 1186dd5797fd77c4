import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { StagedItem } from '../../action/action-plan.js';
import { instantiate } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountMigrations } from '../../execution/test-support/accounts.js';
import { defineMigration } from '../../migration/migration.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { SqlShardStore } from '../sql-shard-store.js';
import { planOf } from '../test-support/plans.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';

const HERE = ShardIdentifier.of(0, 0);
const migrations = [
  ...accountMigrations,
  defineMigration(
    '0002_nicknames',
    `create unique index accounts_nickname on accounts (lower(nickname)) where state = 'OPEN';
     create unique index accounts_closed_by on accounts (closed_by)`,
  ),
];

interface Names {
  readonly nickname?: string;
  readonly closedBy?: string;
}

let made = 0;

/** A row name that no plan has had. */
function fresh(): string {
  made += 1;
  return [...String(made)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('');
}

/** A plan whose added rows have these names. */
function planWith(names: Names, ...changes: readonly string[]): PlanWrite {
  return named('add', names, planOf(...changes));
}

function named(kind: 'add' | 'update', names: Names, plan: PlanWrite): PlanWrite {
  const items = plan.items.map((item): StagedItem => {
    if (item.kind !== kind) return item;
    return { ...item, model: instantiate(item.descriptor, { ...item.model, ...names }) };
  });
  return { ...plan, items };
}

const adding = (names: Names): PlanWrite => planWith(names, `+${fresh()}`);

interface Bench {
  readonly database: ShardDatabase;
  readonly writer: ShardWriter;
  /** Constraint that has refused each plan; undefined if it was applied. */
  submit(...plans: readonly PlanWrite[]): Promise<readonly (string | undefined)[]>;
  /** Statements since the last call. */
  statements(): number;
}

describeOnEachAdapter('a taken unique value', (harness) => {
  async function opened(): Promise<Bench> {
    const databases = await harness.makeShards({ shards: [HERE], migrations });
    const database = databases.database(HERE);
    let count = 0;
    const counting = new Proxy(database, {
      get: (target, key) => {
        if (key !== 'query') return Reflect.get(target, key) as unknown;
        return (...call: Parameters<ShardDatabase['query']>) => {
          count += 1;
          return target.query(...call);
        };
      },
    });
    const writer = new ShardWriter(new SqlShardStore(counting, 'test', new EventCatalog([])), HERE);
    return {
      ...{ database, writer },
      submit: async (...plans) => {
        const sent = plans.map((plan) => writer.submit(plan, { timeoutMs: 60_000 }).outcome);
        const ends = await Promise.allSettled(sent);
        return ends.map((end) => {
          if (end.status === 'fulfilled') return end.value.kind === 'applied' ? undefined : end.value.kind;
          const error: unknown = end.reason;
          if (!(error instanceof DriverFailure)) throw error;
          expect(error).toMatchObject({ phase: 'answered', sqlState: '23505', table: 'accounts' });
          return error.constraint;
        });
      },
      statements: () => {
        const statements = count;
        count = 0;
        return statements;
      },
    };
  }

  const rowsOf = async (database: ShardDatabase, table: string): Promise<number> =>
    Number((await database.query({ text: `select count(*) from ${table}`, values: [] })).rows[0]?.[0]);

  test('costs the statement that a free one costs, and takes no other plan with it', async () => {
    const { submit, statements, database } = await opened();
    expect(await submit(adding({ nickname: 'Taken' }))).toEqual([undefined]);
    const wave = (isTaken: (index: number) => boolean): readonly PlanWrite[] =>
      Array.from({ length: 60 }, (_, index) => adding({ nickname: isTaken(index) ? 'TAKEN' : fresh() }));
    statements();
    const rounds = 8;
    for (let round = 0; round < rounds; round += 1) await submit(...wave(() => false));
    const free = statements();
    for (let round = 0; round < rounds; round += 1) {
      const ends = await submit(...wave((index) => index % 2 === 1));
      expect(ends).toEqual(ends.map((_, index) => (index % 2 === 1 ? 'accounts_nickname' : undefined)));
    }
    // The first conflict costs the statement that failed, and a look at the constraint.
    expect(statements()).toBeLessThanOrEqual(free + 4);
    expect(await rowsOf(database, 'accounts')).toBe(1 + rounds * 90);
    expect(await rowsOf(database, 'eventlog.actions')).toBe(1 + rounds * 90);
  });

  test('goes to one of several plans that want it in one statement', async () => {
    const { submit } = await opened();
    await submit(adding({ nickname: 'taken' }));
    await submit(adding({ nickname: 'taken' }), adding({}), adding({}));
    const ends = await submit(...Array.from({ length: 5 }, () => adding({ nickname: 'wanted' })));
    expect(ends.filter((end) => end === undefined)).toHaveLength(1);
    expect(ends.filter((end) => end === 'accounts_nickname')).toHaveLength(4);
  });

  test('undoes nothing that the plan guards, expects or adds besides', async () => {
    const { submit, database } = await opened();
    const [guarded, expected, other] = [fresh(), fresh(), fresh()];
    await submit(adding({ nickname: 'taken' }), planOf(`+${guarded}`), planOf(`+${expected}`));
    await submit(adding({ nickname: 'taken' }), adding({}));
    const rows = await rowsOf(database, 'accounts');
    const refused = planWith({ nickname: 'taken' }, `${guarded}1>2`, `${expected}1?`, `+${fresh()}`);
    const twice = planWith({ closedBy: 'twice' }, `+${fresh()}`, `+${fresh()}`);
    expect(await submit(refused, adding({}))).toEqual(['accounts_nickname', undefined]);
    expect(await submit(twice, adding({}), planOf(`+${other}`))).toEqual([
      'accounts_closed_by',
      undefined,
      undefined,
    ]);
    expect(await rowsOf(database, 'accounts')).toBe(rows + 3);
    const again = planWith({ nickname: 'free' }, `${guarded}1>2`, `${expected}1?`, `+${fresh()}`);
    expect(await submit(again, adding({}))).toEqual([undefined, undefined]);
  });

  test('is named by its own constraint where several are violated, and where one is gone', async () => {
    const { submit, database } = await opened();
    await submit(adding({ nickname: 'taken', closedBy: 'taken' }));
    for (let round = 0; round < 2; round += 1) {
      const plans = [{ nickname: 'taken' }, { closedBy: 'taken' }, {}, { nickname: 'x', closedBy: 'taken' }];
      expect(await submit(...plans.map((names) => adding(names)))).toEqual([
        ...['accounts_nickname', 'accounts_closed_by', undefined, 'accounts_closed_by'],
      ]);
    }
    await database.query({ text: 'drop index accounts_closed_by', values: [] });
    expect(await submit(adding({ nickname: 'taken' }), adding({ closedBy: 'taken' }), adding({}))).toEqual([
      ...['accounts_nickname', undefined, undefined],
    ]);
  });

  test('may be dropped from its index between two statements', async () => {
    const { submit, database } = await opened();
    await submit(adding({ nickname: 'taken' }));
    await submit(adding({ nickname: 'taken' }), adding({}));
    await database.query({ text: 'drop index accounts_nickname', values: [] });
    for (let round = 0; round < 2; round += 1) {
      expect(await submit(adding({ nickname: 'taken' }), adding({}))).toEqual([undefined, undefined]);
    }
  });

  test('refuses a new row and those who changed it with their chain', async () => {
    const { submit, writer } = await opened();
    await submit(adding({ nickname: 'taken' }));
    await submit(adding({ nickname: 'taken' }), adding({}));
    const row = fresh();
    const first = writer.submit(planWith({ nickname: 'taken' }, `+${row}`), { timeoutMs: 60_000 });
    const second = writer.submit(named('update', { nickname: 'taken' }, planOf(`${row}1>2`)), {
      timeoutMs: 60_000,
      restsOn: [first.link],
    });
    const [other] = await submit(adding({}));
    expect(other).toBeUndefined();
    await expect(first.outcome).rejects.toMatchObject({ constraint: 'accounts_nickname' });
    expect(await second.outcome).toEqual({ kind: 'broken' });
  });
});
