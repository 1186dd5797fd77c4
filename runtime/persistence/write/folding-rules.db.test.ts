import { afterEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { useTime } from '../../concurrency/time.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { FoldingRules } from './folding-rules.js';

const COLUMNS =
  'id uuid primary key check (eventlog.is_own_id(id)), version bigint not null, state text not null, ' +
  "amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity'))";

const things = (more = ''): string => `create table things (${COLUMNS}${more})`;

const DECIMAL = { kind: 'decimal', precision: 19, scale: 4 };
const THING = {
  name: 'Thing',
  table: 'things',
  columns: [
    { field: 'id', column: 'id', type: { kind: 'uuid' }, sqlType: 'uuid' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    { field: 'state', column: 'state', type: { kind: 'string' }, sqlType: 'text' },
    { field: 'amount', column: 'amount', type: DECIMAL, sqlType: 'decimal(19, 4)' },
  ],
} as unknown as ModelDescriptor;

let restoreTime = (): void => {};
afterEach(() => restoreTime());

describeOnEachAdapter('which tables may be folded', (harness) => {
  /** @param later run once the table is known, a minute before the last request */
  const foldable = async (sql: string, folding?: boolean, later?: string): Promise<boolean> => {
    const databases = await harness.makeShards({
      shards: [ShardIdentifier.of(0, 0)],
      migrations: [{ name: '0001_things', up: sql }],
    });
    const database = databases.database(ShardIdentifier.of(0, 0));
    const asked: Promise<unknown>[] = [];
    const query: ShardDatabase['query'] = (statement, options) => {
      const answer = database.query(statement, options);
      asked.push(answer);
      return answer;
    };
    const rules = new FoldingRules({ query } as ShardDatabase);
    const model = { ...THING, ...(folding === undefined ? {} : { folding }) };
    const request = async (): Promise<boolean> => {
      rules.isFoldable(model);
      await Promise.all(asked);
      await new Promise(setImmediate);
      return rules.isFoldable(model);
    };
    const first = await request();
    if (later === undefined) return first;
    await database.query({ text: later, values: [] });
    expect(await request()).toBe(first);
    const now = performance.now() + 61_000;
    restoreTime = useTime({ nowMs: () => now });
    return request();
  };

  test('a table as the generator makes it is', async () => {
    expect(await foldable(things())).toBe(true);
  });

  test.each([
    ['a check of its own', things(', check (amount >= 0)')],
    ['a check that refuses some numbers', things().replace("'-Infinity')", "'-Infinity') and amount >= 0")],
    ['a column of another type', things().replace('19,4', '9,4')],
    ['a computed column', things(', half numeric generated always as (amount / 2) stored')],
    ['an index of a computed value', `${things()}; create index on things ((1 / amount))`],
    ['row security', `${things()}; alter table things enable row level security`],
    ['a unique constraint', things(', email text unique')],
    ['a unique index', `${things(', email text')}; create unique index on things (email)`],
    [
      'a trigger',
      `${things()}; create function note() returns trigger language plpgsql as 'begin return new; end';
       create trigger note before update on things for each row execute function note()`,
    ],
  ])('a table with %s is not', async (_, sql) => {
    expect(await foldable(sql)).toBe(false);
  });

  test.each([
    ['is no longer', '', 'add constraint few check (amount < 9)', false],
    ['is again', ', constraint few check (amount < 9)', 'drop constraint few', true],
  ])('a table that a migration changes %s, a minute later', async (_, more, later, isFoldable) => {
    expect(await foldable(things(more), undefined, `alter table things ${later}`)).toBe(isFoldable);
  });

  test('the option of the model decides', async () => {
    expect(await foldable(things(', check (amount >= 0)'), true)).toBe(true);
    await harness.cleanUp();
    expect(await foldable(things(), false)).toBe(false);
  });
});
