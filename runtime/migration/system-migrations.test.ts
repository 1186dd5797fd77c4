import { expect, it } from 'vitest';
import { ACTIONS_WITH_CLAIMS } from '../persistence/write/eventlog-tables.js';
import { systemMigrations } from './system-migrations.js';

const text = systemMigrations.map((migration) => JSON.stringify(migration)).join('\n');

it('create each table completely: no migration of the first set alters an earlier one’s table', () => {
  expect(systemMigrations.map(({ name }) => name.slice(0, 4))).toEqual(
    systemMigrations.map((_, index) => String(index + 1).padStart(4, '0')),
  );
  expect(text).toContain('create table eventlog.consumers');
  expect(text).not.toMatch(/alter table|drop (table|column)/i);
});

it('have no action column that the write statement does not set', () => {
  const [, body = ''] = /create table eventlog\.actions \((.*?)\\n\)/.exec(text) ?? [];
  const columns = [...body.matchAll(/\\n {2}(\w+) /g)].map(([, name = '']) => name);
  expect(columns).toEqual(ACTIONS_WITH_CLAIMS.columns.map(({ name }) => name));
});
