import { describe, expect, it } from 'vitest';
import { type ChangePermissions, planChanges, type WantedColumn, type WantedIndex } from './plan-changes.js';
import type { ColumnFacts, IndexFacts, SchemaSnapshot, TableFacts } from './schema-snapshot.js';
import { canReplace, isWidening } from './widening.js';

const NOTHING = { tables: [], statements: [], refusals: [], notes: [] };

const none: ChangePermissions = { backfill: new Map(), drop: new Set() };

/** A database with one table, t. */
function schemaOf(facts: Partial<TableFacts>): SchemaSnapshot {
  const tables = new Map([['t', { columns: [], uniqueIndexes: [], checks: [], ...facts }]]);
  return { tables, elsewhere: new Map(), lines: [] };
}

function plan(
  found: readonly Partial<ColumnFacts>[],
  wanted: readonly Partial<WantedColumn>[],
  permissions: Partial<ChangePermissions> = {},
) {
  const facts = found.map((each) => ({ name: 'a', type: 'text', nullable: false, filledIn: false, ...each }));
  const columns = wanted.map((each) => {
    const column = { name: 'a', type: 'text', nullable: false, ...each };
    return { definition: `${column.name} ${column.type}${column.nullable ? '' : ' not null'}`, ...column };
  });
  const schema = schemaOf({ columns: facts });
  return planChanges([{ table: 't', columns }], schema, { ...none, ...permissions }, (name) => name);
}

describe('The next migration', () => {
  it('is empty if there are no differences', () => {
    expect(plan([{}], [{}])).toEqual(NOTHING);
  });

  it('adds a nullable column', () => {
    expect(plan([{}], [{}, { name: 'b', nullable: true }]).statements).toEqual([
      'alter table t add column b text',
    ]);
  });

  it('adds a not-null column only with a value for existing rows', () => {
    const wanted = [{}, { name: 'b' }];
    expect(plan([{}], wanted).refusals).toEqual([expect.stringContaining("--backfill 't.b=<sql>'")]);
    expect(plan([{}], wanted, { backfill: new Map([['t.b', "'none'"]]) })).toMatchObject({
      statements: [`alter table t add column b text not null default ('none')`],
      refusals: [],
    });
  });

  it('refuses a literal that the field cannot read, and leaves expressions to the database', () => {
    const wanted = [{}, { name: 'b', values: ["'S'", "'it''s'"] }];
    const refusals = (value: string) => plan([{}], wanted, { backfill: new Map([['t.b', value]]) }).refusals;
    expect(refusals("'XL'")).toEqual([expect.stringContaining("The field has 'S', 'it''s'.")]);
    expect(refusals('7')).toHaveLength(1);
    for (const value of ["'S'", "'it''s'", 'upper(a)', "'X' || a"]) expect(refusals(value)).toEqual([]);
  });

  it('makes a column nullable for an optional field', () => {
    expect(plan([{}], [{ nullable: true }]).statements).toEqual([
      'alter table t alter column a drop not null',
    ]);
  });

  it('makes a column not null only with a value for rows with null', () => {
    expect(plan([{ nullable: true }], [{}]).refusals).toHaveLength(1);
    expect(plan([{ nullable: true }], [{}], { backfill: new Map([['t.a', "''"]]) }).statements).toEqual([
      `update t set a = ('') where a is null`,
      'alter table t alter column a set not null',
    ]);
  });

  it('widens types, and refuses other conversions', () => {
    const found = [{ type: 'numeric(19,4)' }];
    expect(plan(found, [{ type: 'numeric(21,6)' }]).statements).toEqual([
      'alter table t alter column a type numeric(21,6) using a::numeric(21,6)',
    ]);
    expect(plan(found, [{ type: 'numeric(19,6)' }])).toMatchObject({
      statements: [],
      refusals: [expect.stringContaining('alter table t alter column a type numeric(19,6) using ...')],
    });
  });

  it('refuses NaN in a number that could not be NaN before', () => {
    const check = "a not in ('NaN', 'Infinity', '-Infinity')";
    expect(plan([{ type: 'bigint' }], [{ type: 'numeric', check }]).statements).toEqual([
      'alter table t alter column a type numeric using a::numeric',
      `alter table t add check (${check})`,
    ]);
  });

  it('keeps unknown columns, unless a drop is permitted', () => {
    const found = [{}, { name: 'old', nullable: true }, { name: 'must' }];
    expect(plan(found, [{}])).toEqual({
      ...NOTHING,
      ...{ tables: ['t'], statements: ['alter table t alter column must drop not null'] },
      notes: [expect.stringContaining('--drop t.old'), expect.stringContaining('new rows leave it null')],
    });
    const drop = new Set(['t.old', 't.must']);
    expect(plan(found, [{}], { drop }).statements).toEqual([
      'alter table t drop column old',
      'alter table t drop column must',
    ]);
  });

  it('does not drop a column that is being renamed', () => {
    const found = [{}, { name: 'old', nullable: true }];
    const renaming = new Set(['t.old']);
    expect(plan(found, [{}], { renaming })).toMatchObject({
      refusals: [],
      notes: [expect.stringContaining('migrate rename ... --finish')],
    });
    expect(plan(found, [{}], { renaming, drop: new Set(['t.old']) })).toMatchObject({
      statements: [],
      refusals: [expect.stringContaining('t.old is being renamed')],
    });
  });

  it('refuses unused permissions', () => {
    expect(plan([{}], [{}], { drop: new Set(['t.typo']) }).refusals).toEqual([
      't.typo matches no pending change. Check the spelling.',
    ]);
  });

  it('does not create new tables, which fw-gen generate does', () => {
    const wanted = [{ table: 'other', columns: [] }];
    const { refusals } = planChanges(wanted, { ...schemaOf({}), tables: new Map() }, none, (name) => name);
    expect(refusals).toEqual([expect.stringContaining('run fw-gen generate')]);
  });
});

it.each([
  ['int4', 'int8', true],
  ['integer', 'numeric', true],
  ['integer', 'numeric(5,0)', false],
  ['int2', 'real', true],
  ['int4', 'real', false],
  ['int4', 'double precision', true],
  ['int8', 'double precision', false],
  ['double precision', 'int4', false],
  ['char(3)', 'text', true],
  ['text', 'varchar(10)', false],
  ['varchar(10)', 'varchar(20)', true],
  ['char(3)', 'varchar(2)', false],
  ['numeric(19,4)', 'numeric(19,5)', false],
  ['numeric(19,4)', 'numeric', true],
  ['text', 'uuid', false],
  ['int4[]', 'int8[]', false],
])('every %s is a %s: %s', (from, to, expected) => {
  expect(isWidening(from, to)).toBe(expected);
});

describe('The index of a natural key', () => {
  const index = { name: 't_a_key', columns: ['a'], deletedStates: ["GO'NE"] };
  const definition = "create unique index t_a_key on t (a) where state not in ('GO''NE')";
  const predicate = "(state <> 'GO''NE'::text)";
  const there = { name: 't_a_key', columns: ['a'], predicate, isConstraint: false };

  function planIndex(
    found: readonly IndexFacts[],
    wanted: readonly WantedIndex[],
    permissions: Partial<ChangePermissions> = {},
  ) {
    const facts = { name: 'a', type: 'text', nullable: false, filledIn: false };
    const type = { type: 'text', nullable: false, definition: 'a text not null' };
    const column = { name: 'a', ...type };
    return planChanges(
      [{ table: 't', columns: [column], indexes: wanted }],
      schemaOf({ columns: [facts], uniqueIndexes: found }),
      { ...none, ...permissions },
      (name) => name,
    );
  }

  const wanted = [{ ...index, definition }];

  it('is created if missing, and kept if present', () => {
    expect(planIndex([], wanted).statements).toEqual([definition]);
    expect(planIndex([there], wanted)).toEqual(NOTHING);
  });

  it('is created again if it has other columns or another predicate', () => {
    const again = ['drop index t_a_key', definition];
    expect(planIndex([{ ...there, columns: ['a', 'b'] }], wanted).statements).toEqual(again);
    expect(planIndex([{ ...there, predicate: undefined }], wanted).statements).toEqual(again);
    const lost = { ...there, predicate: "(state <> ALL (ARRAY['GO''NE'::text, 'LOST'::text]))" };
    expect(planIndex([lost], wanted).statements).toEqual(again);
  });

  it('is dropped with the unique constraint that it belongs to', () => {
    const constraint = { ...there, isConstraint: true };
    const drop = 'alter table t drop constraint t_a_key';
    expect(planIndex([{ ...constraint, columns: ['a', 'b'] }], wanted).statements).toEqual([
      drop,
      definition,
    ]);
    expect(planIndex([constraint], [], { drop: new Set(['t.t_a_key']) }).statements).toEqual([drop]);
  });

  it('is renamed after its column was renamed', () => {
    const old = { ...there, name: 't_old_key' };
    expect(planIndex([old], wanted).statements).toEqual(['alter index t_old_key rename to t_a_key']);
  });

  it('is kept when no model has the key any more, unless a drop is permitted', () => {
    const kept = planIndex([there], []);
    expect(kept.statements).toEqual([]);
    expect(kept.notes).toEqual([expect.stringContaining('--drop t.t_a_key')]);
    expect(planIndex([there], [], { drop: new Set(['t.t_a_key']) })).toEqual({
      ...NOTHING,
      ...{ tables: ['t'], statements: ['drop index t_a_key'] },
    });
    expect(planIndex([{ ...there, name: 'own_index' }], [])).toEqual(NOTHING);
  });
});

it.each([
  ['numeric(5,2)', 'numeric(9,4)', true],
  ['varchar(5)', 'text', true],
  ['varchar(9)', 'varchar(5)', false],
  ['integer', 'bigint', false],
  ['uuid', 'text', false],
])('code written for %s can use a column of %s: %s', (type, found, expected) => {
  expect(canReplace(type, found)).toBe(expected);
});
