import { expect, test } from 'vitest';
import { printTables, readMigrationHeader, sharedTables, withoutOrder } from './migration-header.js';

const SQL = 'create table notes (id uuid)';

test('a header declares the migration before, the tables and the transaction, above the first statement', () => {
  const up = `
-- A comment.
-- fw-gen: after 20260301090000_create_notes
--fw-gen:   tables notes, app.Tags, "Odd, ""name"""

-- fw-gen: no transaction
${SQL}`;
  const expected = {
    inTransaction: false,
    after: '20260301090000_create_notes',
    tables: ['notes', 'tags', 'Odd, "name"'],
  };
  expect(readMigrationHeader(up)).toEqual(expected);
  expect(readMigrationHeader(up.replaceAll('\n', '\r\n'))).toEqual(expected);
  expect(readMigrationHeader(`-- fw-gen: first\n-- fw-gen: tables\n${SQL}`)).toEqual({
    inTransaction: true,
    after: '',
    tables: [],
  });
  expect(readMigrationHeader(`${SQL};\n-- fw-gen: tables notes\n`)).toEqual({ inTransaction: true });
  expect(readMigrationHeader(`-- fw-gen: replaces 0123456789ab 9f86d081884c\n${SQL}`)).toEqual({
    inTransaction: true,
    replaces: ['0123456789ab', '9f86d081884c'],
  });
  expect(readMigrationHeader(`-- fw-gen: replaces 0123\n${SQL}`).unknown).toBe('replaces 0123');
  expect(readMigrationHeader(`-- fw-gen: tablets a\n${SQL}`).unknown).toBe('tablets a');
});

test('printed tables are read as the same names', () => {
  const names = ['notes', 'Odd, "name"', 'a.b', 'ñandú'];
  expect(readMigrationHeader(`-- fw-gen: tables ${printTables(names)}`).tables).toEqual(names);
});

test('tables are shared by name, and unknown unless both declare them', () => {
  expect(sharedTables(['a', 'b'], ['b', 'c'])).toEqual(['b']);
  expect(sharedTables(['a'], [])).toEqual([]);
  expect(sharedTables(['a'], undefined)).toBe('unknown');
  expect(sharedTables(undefined, [])).toBe('unknown');
});

test('only the comments on the order and on earlier texts are left out of a text', () => {
  const kept = `-- fw-gen: no transaction\n-- Note.\n${SQL};\n-- fw-gen: tables notes\n`;
  expect(
    withoutOrder(`-- fw-gen: first\n-- fw-gen: tables notes\n-- fw-gen: replaces 0123456789ab\n${kept}`),
  ).toBe(kept);
});
