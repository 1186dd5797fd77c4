import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { StagedItem } from '../../action/action-plan.js';
import type { Decimal } from '../../domain/decimal.js';
import { instantiate } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountMigrations } from '../../execution/test-support/accounts.js';
import { type Guest, guestMigrations, guestModel, newGuest } from '../../execution/test-support/guests.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { openStore, planOf } from '../test-support/plans.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';

const HERE = ShardIdentifier.of(0, 0);
const guests = guestModel as unknown as StagedItem['descriptor'];
const migrations = [
  ...accountMigrations,
  ...guestMigrations,
  {
    name: '0003_nicknames',
    up: `create unique index accounts_nickname on accounts (lower(nickname)) where state = 'OPEN';
     create unique index accounts_closed_by on accounts (closed_by);
     alter table accounts add constraint accounts_in_credit check (balance >= 0)`,
  },
];

interface Names {
  readonly nickname?: string;
  readonly closedBy?: string;
  readonly balance?: Decimal;
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

async function run(database: ShardDatabase, sql: string): Promise<void> {
  const session = await database.acquire();
  await session.script(sql);
  session.release();
}

describeOnEachAdapter('a plan that a constraint refuses', (harness) => {
  async function opened() {
    const { database, store } = await openStore(harness, migrations);
    const writer = new ShardWriter(store, HERE);
    return {
      ...{ database, writer },
      /** The constraint that has refused each plan, or the SQLSTATE without one; undefined if it was applied. */
      submit: async (...plans: readonly PlanWrite[]): Promise<readonly (string | undefined)[]> => {
        const sent = plans.map((plan) => writer.submit(plan, { timeoutMs: 60_000 }).outcome);
        const ends = await Promise.allSettled(sent);
        return ends.map((end) => {
          if (end.status === 'fulfilled') return end.value.kind === 'applied' ? undefined : end.value.kind;
          const error: unknown = end.reason;
          if (!(error instanceof DriverFailure)) throw error;
          expect(error).toMatchObject({ phase: 'answered' });
          expect(error.sqlState).toMatch(/^23/);
          return error.constraint ?? error.sqlState;
        });
      },
    };
  }

  const rowsOf = async (database: ShardDatabase, table: string): Promise<number> =>
    Number((await database.query({ text: `select count(*) from ${table}`, values: [] })).rows[0]?.[0]);

  test('takes no other plan of its statement with it', async () => {
    const { submit } = await opened();
    await submit(adding({ nickname: 'taken' }));
    const plans = Array.from({ length: 16 }, (_, index) => adding(index === 5 ? { nickname: 'TAKEN' } : {}));
    const ends = await submit(...plans);
    expect(ends).toEqual(plans.map((_, index) => (index === 5 ? 'accounts_nickname' : undefined)));
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
    const ends = await submit(twice, adding({}), planOf(`+${other}`));
    expect(ends).toEqual(['accounts_closed_by', undefined, undefined]);
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

  test('may take a natural key that another of its rows gives up', async () => {
    const { submit } = await opened();
    const guestOf = (plan: PlanWrite, ...items: readonly StagedItem[]): PlanWrite => ({ ...plan, items });
    const add = (model: Guest): StagedItem => ({ kind: 'add', descriptor: guests, model, events: [] });
    const ann = newGuest('ann@hotel');
    await submit(guestOf(planOf(), add(ann)));
    for (let round = 0; round < 2; round += 1) {
      const plans = ['ann@hotel', `${fresh()}@hotel`].map((email) => guestOf(planOf(), add(newGuest(email))));
      expect(await submit(...plans)).toEqual(['guests_email_key', undefined]);
    }
    const heldBefore = heldKeys(ann);
    const renamed: StagedItem = {
      ...{ kind: 'update', descriptor: guests, model: ann.renamed('ann@home') },
      ...{ expectedVersion: 1, heldBefore, events: [] },
    };
    const plan = guestOf(planOf(), renamed, add(newGuest('ann@hotel')));
    expect(await submit(plan, guestOf(planOf(), add(newGuest('bob@hotel'))))).toEqual([undefined, undefined]);
  });

  test('may refer to a row that it adds', async () => {
    const { submit, database } = await opened();
    const sql = `drop index accounts_closed_by; alter table accounts add unique (nickname),
      add constraint accounts_sponsor foreign key (closed_by) references accounts (nickname)`;
    await run(database, sql);
    const sponsor = adding({ nickname: 'sponsor' });
    const plan = { ...sponsor, items: [...sponsor.items, ...adding({ closedBy: 'sponsor' }).items] };
    expect(await submit(plan, adding({}), adding({ closedBy: 'nobody' }))).toEqual([
      ...[undefined, undefined, 'accounts_sponsor'],
    ]);
  });

  test('refuses a new row and the plans that changed it, with their chain', async () => {
    const { submit, writer } = await opened();
    await submit(adding({ nickname: 'taken' }));
    await submit(adding({ nickname: 'taken' }), adding({}));
    const row = fresh();
    const first = writer.submit(planWith({ nickname: 'taken' }, `+${row}`), { timeoutMs: 60_000 });
    const second = writer.submit(named('update', { nickname: 'taken' }, planOf(`${row}1>2`)), {
      timeoutMs: 60_000,
      dependsOn: [first.pending],
    });
    const [other] = await submit(adding({}));
    expect(other).toBeUndefined();
    await expect(first.outcome).rejects.toMatchObject({ constraint: 'accounts_nickname' });
    expect(await second.outcome).toEqual({ kind: 'dependency-failed' });
  });
});
