import { expect, test } from 'vitest';
import { documentedGrants } from '../../test/databases/roles.js';
import { APPLICATION_RIGHTS } from './application-rights.js';
import { systemMigrations } from './system-migrations.js';

/** Tables of retention, which needs the tables' owner. */
const OF_OWNER = ['maintenance', 'partition_marks'];

const rights = new Map(
  APPLICATION_RIGHTS.flatMap(({ tables, privileges }) =>
    tables.map((table) => [table, [...privileges].sort()]),
  ),
);

test('the grants of docs/events.md are the rights that a start requires', () => {
  const granted = new Map<string, readonly string[]>();
  for (const [, privileges = '', tables = ''] of documentedGrants().matchAll(
    /grant ([^;]+?) on (?!schema)([^;]+?) to/g,
  ))
    for (const table of tables.split(',').map((name) => name.trim().replace('eventlog.', '')))
      granted.set(table, privileges.toUpperCase().split(', ').sort());
  granted.delete('wallets');
  granted.delete('transfers');
  expect(granted).toEqual(rights);
});

test('each table of the migrations has rights, or belongs to the owner', () => {
  const text = systemMigrations.map((migration) => JSON.stringify(migration)).join('\n');
  const tables = [...text.matchAll(/create (?:unlogged )?table eventlog\.(\w+) \(/g)].map(([, name]) => name);
  expect(tables.length).toBeGreaterThan(15);
  expect(tables.filter((table) => table !== undefined && !rights.has(table)).sort()).toEqual(OF_OWNER);
});
