import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { defineMigration } from './migration.js';
import { planChanges } from './plan-changes.js';
import { snapshotSchema } from './schema-snapshot.js';

const HERE = ShardIdentifier.of(0, 0);
const FINITE = "value not in ('NaN', 'Infinity', '-Infinity')";

/** Types, whether each has the check of numbers with NaN, a stored value, and the same as text after the conversion. */
const KEPT = [
  ['double precision', true, '0.5', 'numeric(19,4)', true, '0.5000'],
  ['numeric(19,4)', true, '1.5000', 'double precision', true, '1.5'],
  ['numeric(19,4)', true, '1.5000', 'text', false, '1.5000'],
  ['double precision', true, '12', 'integer', false, '12'],
  ['integer', false, '12', 'numeric(19,4)', true, '12.0000'],
  ['bigint', false, '12', 'text', false, '12'],
  ['text', false, "'1.25'", 'numeric(19,4)', true, '1.2500'],
  ['text', false, "'EUR'", 'character(3)', false, 'EUR'],
  ['numeric(19,4)', true, 'null', 'integer', false, null],
] as const;

/** Types, and a stored value that the second one cannot hold unchanged. */
const LOST = [
  ['double precision', '0.123456789', 'numeric(19,4)', 'shelves.value does not fit: 0.123456789'],
  ['double precision', '0.30000000000000004', 'numeric(19,4)', 'shelves.value does not fit'],
  ['numeric(19,4)', '1.5', 'bigint', 'shelves.value does not fit: 1.5000'],
  ['numeric(19,4)', '123456789012345.6789', 'double precision', 'shelves.value does not fit'],
  ['text', "'1.23456'", 'numeric(19,4)', 'shelves.value does not fit: 1.23456'],
  ['text', "'EURO'", 'character(3)', 'shelves.value does not fit: EURO'],
  ['text', "'soon'", 'integer', 'invalid input syntax'],
  ['bigint', '3000000000', 'integer', 'out of range'],
] as const;

describeOnEachAdapter('The conversion of a column', (harness) => {
  async function convert(from: string, isChecked: boolean, value: string, to: string, willBe: boolean) {
    const check = isChecked ? ` check (${FINITE})` : '';
    const shelves = defineMigration(
      '0001_shelves',
      `create table shelves (value ${from}${check}); insert into shelves values (${value})`,
    );
    const databases = await harness.makeShards({ shards: [HERE], migrations: [shelves] });
    const database = databases.database(HERE);
    const run = async (text: string) => (await database.query({ text, values: [] })).rows;
    const schema = await snapshotSchema(database);
    const wanted = {
      name: 'value',
      type: to,
      nullable: true,
      definition: '',
      ...(willBe ? { check: FINITE } : {}),
    };
    const permissions = { backfill: new Map(), drop: new Set<string>(), convert: new Set(['shelves.value']) };
    const planned = planChanges(
      [{ table: 'shelves', columns: [wanted] }],
      schema,
      permissions,
      (name) => name,
    );
    return {
      run,
      statements: planned.statements,
      checks: async () => (await snapshotSchema(database)).tables.get('shelves')?.checks.length,
    };
  }

  test.each(KEPT)('%s (%s) %s to %s keeps the value', async (from, isChecked, value, to, willBe, after) => {
    const { run, statements, checks } = await convert(from, isChecked, value, to, willBe);
    for (const statement of statements) await run(statement);
    expect(await run('select value::text from shelves')).toEqual([[after]]);
    expect(await checks()).toBe(willBe ? 1 : 0);
  });

  test.each(LOST)('%s %s to %s fails', async (from, value, to, message) => {
    const { run, statements } = await convert(from, false, value, to, false);
    await expect(
      (async () => {
        for (const statement of statements) await run(statement);
      })(),
    ).rejects.toThrow(message);
  });
});
