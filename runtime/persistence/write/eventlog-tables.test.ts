import { expect, test } from 'vitest';
import { ACTIONS, insertInto } from './eventlog-tables.js';

test('an insert into some columns of a table names only columns that its description has', () => {
  const text = insertInto(ACTIONS, { id: '$1', status: "'void'" }, 'a');
  expect(text).toBe("INSERT INTO eventlog.actions AS a (id, status) SELECT $1, 'void'");
  expect(() => insertInto(ACTIONS, { identity: '$1' })).toThrow('eventlog.actions has no column identity');
});
