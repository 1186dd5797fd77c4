import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { instantiate } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountModel } from '../../domain/test-support/account.js';
import { defineMigration } from '../../migration/migration.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { SqlShardStore } from '../sql-shard-store.js';
import { planOf } from '../test-support/plans.js';
import { FoldingRules } from './folding-rules.js';
import type { PendingPlan } from './pending-plan.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';

const HERE = ShardIdentifier.of(0, 0);
const ACCOUNTS = defineMigration(
  '0001_accounts',
  `create table accounts (
     id uuid primary key check (eventlog.is_own_id(id)), state text not null, version bigint not null,
     balance numeric(19,4) not null, nickname text, closed_by text,
     created_date timestamptz not null, updated_date timestamptz not null
   );
   create table names (name text primary key);
   -- What refers to accounts gives them triggers of the server's own.
   create table notes_on_accounts (account uuid references accounts)`,
);

const TRIGGER = `create function refuse_seven() returns trigger language plpgsql as $$
  begin
    if new.balance = 7 then raise exception 'No sevens' using errcode = '23514'; end if;
    return new;
  end $$;
  create trigger refuse_seven before update on accounts for each row execute function refuse_seven()`;

const SEVEN = { balance: new Decimal(7) };

/** What a migration brings, and what the state in the middle of a chain holds that it refuses. */
const CASES: Readonly<Record<string, readonly [sql: string, middle: object]>> = {
  'a trigger': [TRIGGER, SEVEN],
  'a check': ['alter table accounts add check (balance <> 7)', SEVEN],
  'a unique index': ['create unique index on accounts (nickname)', { nickname: 'taken' }],
  'a unique constraint that is deferred': [
    'alter table accounts add unique (nickname) deferrable',
    { nickname: 'taken' },
  ],
  'a reference': [
    "insert into names values ('taken'); alter table accounts add foreign key (nickname) references names",
    { nickname: 'unknown' },
  ],
  'a value that must be there': [
    'alter table accounts alter column closed_by set not null',
    { closedBy: null },
  ],
  'a narrower column': [
    'alter table accounts alter column nickname type varchar(5)',
    { nickname: 'too long' },
  ],
};

interface Bench {
  readonly database: ShardDatabase;
  readonly writer: ShardWriter;
  readonly rules: FoldingRules;
}

async function opened(harness: DatabaseHarness): Promise<Bench> {
  const databases = await harness.makeShards({ shards: [HERE], migrations: [ACCOUNTS] });
  const database = databases.database(HERE);
  const rules = new FoldingRules(database);
  const store = new SqlShardStore(database, 'test', new EventCatalog([]), undefined, rules);
  const writer = new ShardWriter(store, HERE, undefined, (model) => rules.isFoldable(model));
  await settle(writer, planOf('+a'), named({ nickname: 'taken' }, '+b'));
  await foldable(rules);
  expect(await settle(writer, ...chain(1))).toEqual(['applied 3', 'applied 3', 'applied 3']);
  return { database, writer, rules };
}

async function foldable(rules: FoldingRules): Promise<void> {
  const model = planOf('a1>2').items[0]?.descriptor ?? (accountModel as unknown as ModelDescriptor);
  await expect.poll(() => rules.isFoldable(model), { timeout: 20_000 }).toBe(true);
}

function named(values: object, change: string): PlanWrite {
  const plan = planOf(change);
  const items = plan.items.map((item) => {
    const model = instantiate(item.descriptor, { ...item.model, closedBy: 'bob', ...values });
    return { ...item, model };
  });
  return { ...plan, items };
}

/** Three changes of a row, the middle one of which each case refuses; not so where `middle` says otherwise. */
function chain(from: number, middle: object = {}): readonly PlanWrite[] {
  const change = (index: number): string => `a${from + index}>${from + index + 1}`;
  return [named({}, change(0)), named(middle, change(1)), named({}, change(2))];
}

/** Plans that depend on one another. */
async function settle(writer: ShardWriter, ...plans: readonly PlanWrite[]): Promise<readonly string[]> {
  const isChain = plans.some(({ action }) => action.name.includes('>'));
  const dependencies: PendingPlan[] = [];
  const outcomes = plans.map((plan) => {
    const dependsOn = isChain ? dependencies.slice(-1) : [];
    const submission = writer.submit(plan, { timeoutMs: 60_000, dependsOn });
    dependencies.push(submission.pending);
    return submission.outcome.then(
      (outcome) => (outcome.kind === 'applied' ? `applied ${outcome.chainLength}` : outcome.kind),
      (error: unknown) =>
        error instanceof DriverFailure ? `refused ${error.sqlState?.slice(0, 2)}` : 'failed',
    );
  });
  return Promise.all(outcomes);
}

describeOnEachAdapter('a chain that was about to be folded', (harness) => {
  test.each(Object.entries(CASES))(
    'is written plan by plan once there is %s',
    async (name, [sql, middle]) => {
      const { database, writer } = await opened(harness);
      await run(database, sql);
      const refusal = name === 'a narrower column' ? 'refused 22' : 'refused 23';
      expect(await settle(writer, ...chain(4, middle))).toEqual(['applied 1', refusal, 'dependency-failed']);
      expect(await settle(writer, ...chain(5))).toEqual(['applied 1', 'applied 1', 'applied 1']);
    },
  );

  test('is folded again when the catalog has changed, but not in what matters', async () => {
    const { database, writer, rules } = await opened(harness);
    await run(database, 'alter table accounts add column colour text');
    expect(await settle(writer, ...chain(4))).toEqual(['applied 1', 'applied 1', 'applied 1']);
    await foldable(rules);
    expect(await settle(writer, ...chain(7))).toEqual(['applied 3', 'applied 3', 'applied 3']);
  });
});

describeOn('postgresql', 'a chain that meets a migration', (harness) => {
  test('waits for its lock and then sees what it has brought', async () => {
    const { database, writer } = await opened(harness);
    const session = await database.acquire();
    await session.script(`begin; ${TRIGGER}`);
    const ends = settle(writer, ...chain(4, SEVEN));
    await expect.poll(() => waiting(database), { timeout: 20_000, interval: 5 }).toBe(true);
    await session.script('commit');
    session.release();
    expect(await ends).toEqual(['applied 1', 'refused 23', 'dependency-failed']);
  });
});

async function run(database: ShardDatabase, sql: string): Promise<void> {
  const session = await database.acquire();
  await session.script(sql);
  session.release();
}

async function waiting(database: ShardDatabase): Promise<boolean> {
  const text = "select exists (select from pg_locks where not granted and relation = 'accounts'::regclass)";
  const { rows } = await database.query({ text, values: [] });
  return rows[0]?.[0] === true;
}
