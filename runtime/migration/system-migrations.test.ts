import { expect, it } from 'vitest';
import { ACTIONS } from '../persistence/write/eventlog-tables.js';
import { systemMigrations } from './system-migrations.js';

const text = systemMigrations.map((migration) => JSON.stringify(migration)).join('\n');

function columnsOf(table: string): readonly string[] {
  const [, body = ''] = new RegExp(`create table ${table} \\((.*?)\\\\n\\)`).exec(text) ?? [];
  return [...body.matchAll(/\\n {2}(\w+) /g)].map(([, name = '']) => name);
}

it('are one migration, which creates each table completely', () => {
  expect(systemMigrations.map(({ name }) => name)).toEqual(['0001_tables']);
  expect(text).toContain('create table eventlog.consumers');
  expect(text).not.toMatch(/alter table|drop (table|column)/i);
});

it('create no function that neither this package calls nor a trigger', () => {
  const created = [...text.matchAll(/create function eventlog\.(\w+)/g)].map(([, name]) => name);
  expect(created).toEqual(['saga_deadline', 'server_run']);
});

it('have no action column that the write statement does not set', () => {
  expect(columnsOf('eventlog.actions')).toEqual(ACTIONS.columns.map(({ name }) => name));
});
