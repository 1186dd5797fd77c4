import { expect, it } from 'vitest';
import { ACTIONS, EVENTS, JOURNAL, KEYS, SCHEDULES } from '../persistence/write/eventlog-tables.js';
import { systemMigrations } from './system-migrations.js';

const text = systemMigrations.map((migration) => JSON.stringify(migration)).join('\n');

function columnsOf(table: string): readonly string[] {
  const [, body = ''] = new RegExp(`create table ${table} \\((.*?)\\\\n\\)`).exec(text) ?? [];
  return [...body.matchAll(/\\n {2}(\w+) /g)].map(([, name = '']) => name);
}

it('create each table completely: no migration of the first set alters an earlier one’s table', () => {
  expect(systemMigrations.map(({ name }) => name.slice(0, 4))).toEqual(
    systemMigrations.map((_, index) => String(index + 1).padStart(4, '0')),
  );
  expect(text).toContain('create table eventlog.consumers');
  expect(text).not.toMatch(/alter table|drop (table|column)/i);
});

it('have no action column that the write statement does not set', () => {
  expect(columnsOf('eventlog.actions')).toEqual(ACTIONS.columns.map(({ name }) => name));
});

it.each([EVENTS, KEYS, SCHEDULES, JOURNAL])(
  'have the columns that statements write: $name',
  ({ name, columns }) => {
    const made = columnsOf(name);
    expect(columns.map((column) => column.name).filter((column) => !made.includes(column))).toEqual([]);
  },
);
