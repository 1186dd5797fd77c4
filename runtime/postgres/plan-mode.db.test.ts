import { afterEach, expect, it } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import type { Rows, ShardDatabase, Statement } from '../sharding/shard-database.js';
import { failureOf, statement } from '../sharding/test-support/statements.js';
import { TransactionManager } from '../sharding/transaction-manager.js';
import { TestDatabases } from './test-support/test-databases.js';

const MODE = "current_setting('plan_cache_mode')";
const OWN: Statement = { name: 'fw_mode', text: `select ${MODE}, $1::int4`, values: [1] };
const APPLICATIONS: Statement = { text: `select ${MODE}, $1::int4`, values: [1] };
/** Only a custom plan for the value can use the partial index. */
const RARE: Statement = { text: 'explain select id from jobs where state = $1', values: ['failed'] };

const JOBS = [
  'create table jobs (id int4 primary key, state text not null)',
  "insert into jobs select n, case when n % 1000 = 0 then 'failed' else 'done' end from generate_series(1, 20000) n",
  "create index failed_jobs on jobs (id) where state = 'failed'",
  'analyze jobs',
];

describeOn('postgresql', 'The plan mode of a session', (harness) => {
  const databases = new TestDatabases(harness);
  afterEach(() => databases.end());

  const modeOf = ({ rows }: Rows): unknown => rows[0]?.[0];
  const planOf = ({ rows }: Rows): string => rows.flat().join('\n');

  /** One connection on which the framework has already sent a statement. */
  async function opened(...setup: readonly string[]): Promise<ShardDatabase> {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    for (const text of setup) await database.query(statement(text));
    expect(modeOf(await database.query(OWN))).toBe('force_generic_plan');
    return database;
  }

  it("lets an application's query use a partial index, between the framework's own statements", async () => {
    const database = await opened(...JOBS);
    expect(planOf(await database.query(RARE))).toContain('failed_jobs');
    expect(modeOf(await database.query(APPLICATIONS))).toBe('auto');
    expect(modeOf(await database.query({ ...APPLICATIONS, name: 'report' }))).toBe('auto');
    expect(modeOf(await database.query(OWN))).toBe('force_generic_plan');
  });

  it('lets it do so in an application’s transaction and in its own session', async () => {
    const database = await opened(...JOBS);
    const plan = await new TransactionManager(database).transaction(
      (transaction) => transaction.query(RARE),
      { isolationLevel: 'serializable', readOnly: true },
    );
    expect(planOf(plan)).toContain('failed_jobs');
    const session = await database.acquire();
    expect(planOf(await session.query(RARE))).toContain('failed_jobs');
    session.release();
    expect(modeOf(await database.query(OWN))).toBe('force_generic_plan');
  });

  it('restores the role’s setting', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    await database.query(
      statement(`do $$ begin
        execute format('alter database %I set plan_cache_mode = force_custom_plan', current_database());
      end $$`),
    );
    const reopened = databases.open({ ...databases.lastSource, maximumPoolSize: 1 });
    expect(modeOf(await reopened.query(OWN))).toBe('force_generic_plan');
    expect(modeOf(await reopened.query(APPLICATIONS))).toBe('force_custom_plan');
  });

  it('is switched on by the next statement if the first one fails', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    const divide = { name: 'fw_divide', text: 'select 1 / $1::int4', values: [0] };
    expect(await failureOf(database.query(divide))).toMatchObject({ sqlState: '22012' });
    expect(modeOf(await database.query(APPLICATIONS))).toBe('auto');
    expect(modeOf(await database.query(OWN))).toBe('force_generic_plan');
    expect(await failureOf(database.query(divide))).toMatchObject({ sqlState: '22012' });
    expect(modeOf(await database.query(OWN))).toBe('force_generic_plan');
  });

  it('does not apply to an application’s statement behind one of the framework’s', async () => {
    const database = await opened();
    await database.query({ ...APPLICATIONS, name: 'report' });
    const pipeline = {};
    const slow = { name: 'fw_slow', text: `select ${MODE}, $1::int4 from pg_sleep(0.1)`, values: [1] };
    await database.query(slow, { pipeline });
    const modes = await Promise.all(
      [slow, { ...APPLICATIONS, name: 'report' }, OWN].map((each) => database.query(each, { pipeline })),
    );
    expect(modes.map(modeOf)).toEqual(['force_generic_plan', 'auto', 'force_generic_plan']);
  });
});
