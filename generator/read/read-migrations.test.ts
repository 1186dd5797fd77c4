import { expect, test } from 'vitest';
import { migrationFilesOf, readMigration } from './read-migrations.js';

function changes(up: string): unknown {
  const read = readMigration('migrations/0001_x.sql', up, 'migrations');
  return 'up' in read ? [read.creates, read.drops] : read;
}

test.each<[string, readonly string[], readonly string[]]>([
  ['create table notes (id uuid);', ['notes'], []],
  ['CREATE UNLOGGED TABLE IF NOT EXISTS "public" . "Odd ""name""" ()', ['Odd "name"'], []],
  ['create table other.notes (); create temp table tmp ();', [], []],
  ['-- create table notes (id uuid);\nselect 1;', [], []],
  ['/* drop table notes;\n create table tags (); */ select 1;', [], []],
  ["select '--'; create table notes ()", ['notes'], []],
  ["select E'it\\'s --', $$ it's -- $$, $a$ ' $a$; create table notes ()", ['notes'], []],
  ["select 'it''s --'; create table notes ()", ['notes'], []],
  ['alter table notes rename to memos;', ['memos'], ['notes']],
  ['alter table if exists only "Notes"\n  rename to "Memos"', ['Memos'], ['Notes']],
  ['alter table notes rename column a to b; alter table tags add c text;', [], []],
  ['drop table if exists notes cascade; create table notes ();', ['notes'], ['notes']],
])('%j', (up, creates, drops) => {
  expect(changes(up)).toEqual([creates, drops]);
});

test('a text of any length', () => {
  const long = 'a'.repeat(12_000_000);
  expect(changes(`select '${long}'; create table notes ()`)).toEqual([['notes'], []]);
});

test('a file is no less a migration in capitals', () => {
  expect(migrationFilesOf(['0002_B.SQL', '0001_a.sql', 'notes.md'])).toEqual(['0001_a.sql', '0002_B.SQL']);
});
