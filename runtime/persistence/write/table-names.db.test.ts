import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { StagedItem } from '../../action/action-plan.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { instantiate } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';
import { openStore, planOf } from '../test-support/plans.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';

const HERE = ShardIdentifier.of(0, 0);

/** What statements call their parts, with and without what sets them apart, and tables of the runtime. */
const NAMES = 'l u l0 m0 n0 r0 u0 i0 ok held refused act ev x events'.split(' ');
const TABLES = [...NAMES, 't', 'actions', 'schedules', 'idempotency_keys', 'journal', 'fw_m0'];

/** A column of each model is called as a part of a statement, too. */
const COLUMNS: Readonly<Record<string, string>> = { nickname: 'fw_grp', closedBy: 'fw_new', state: 'nr' };

const migration = {
  name: '0001_tables',
  up: TABLES.map((table) => {
    const name = quoteIdentifier(table);
    return `create table ${name} (id uuid primary key, nr text not null, version bigint not null,
      balance numeric(19,4) not null check (balance >= 0), fw_grp text, fw_new text,
      created_date timestamptz not null, updated_date timestamptz not null);
      create unique index ${quoteIdentifier(`${table}_taken`)} on ${name} (lower(fw_grp))`;
  }).join(';\n'),
};

function modelOf(table: string, model: ModelDescriptor): ModelDescriptor {
  const columns = model.columns.map((each) => ({ ...each, column: COLUMNS[each.field] ?? each.column }));
  return { ...model, table, columns };
}

/** A plan on rows of another table. */
function planIn(table: string, values: object, ...changes: readonly string[]): PlanWrite {
  const plan = planOf(...changes);
  const items = plan.items.map((item): StagedItem => {
    const descriptor = modelOf(table, item.descriptor);
    const model = instantiate(descriptor, { ...item.model, ...values });
    return { ...item, descriptor, model };
  });
  return { ...plan, items };
}

describeOnEachAdapter('A flush', (harness) => {
  test('writes to tables that are called as parts of its statement', async () => {
    const { database, store } = await openStore(harness, [migration]);
    const writer = new ShardWriter(store, HERE);
    const submit = async (...plans: readonly PlanWrite[]): Promise<readonly string[]> => {
      const sent = plans.map((plan) => writer.submit(plan, { timeoutMs: 60_000 }).outcome);
      return (await Promise.allSettled(sent)).map((end) => {
        if (end.status === 'fulfilled') return end.value.kind;
        return end.reason instanceof DriverFailure ? String(end.reason.sqlState) : String(end.reason);
      });
    };
    for (const table of TABLES) {
      const inTable = (values: object, ...changes: readonly string[]): PlanWrite =>
        planIn(table, values, ...changes);
      const taken = { nickname: 'taken' };
      const debt = { balance: new Decimal(-1) };
      const ends = [
        await submit(inTable(taken, '+a')),
        await submit(inTable(taken, 'a1>2')),
        await submit(inTable({}, '+b'), inTable({}, '+c'), inTable(taken, 'a2>3')),
        // Refused, then refused by statements that evaluate the constraints.
        await submit(inTable({ nickname: 'TAKEN' }, '+d'), inTable(debt, 'b1>2'), inTable({}, 'c1>2', 'a3?')),
        await submit(inTable({ nickname: 'TAKEN' }, '+d'), inTable(debt, 'b1>2'), inTable({}, 'c2>3', 'a3?')),
        await submit(inTable({}, 'b1>2'), inTable({}, 'c2>3')),
      ];
      expect([table, ...ends]).toEqual([
        table,
        ['applied'],
        ['applied'],
        ['applied', 'applied', 'applied'],
        ['23505', '23514', 'applied'],
        ['23505', '23514', 'applied'],
        ['applied', 'stale'],
      ]);
      const text = `select version from ${quoteIdentifier(table)} order by version`;
      const { rows } = await database.query({ text, values: [] });
      expect(rows.flat().map(Number)).toEqual([2, 3, 3]);
    }
  });
});
