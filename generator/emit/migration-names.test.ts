import { expect, test } from 'vitest';
import { nameMigration } from './migration-names.js';

const now = new Date('2026-03-01T09:59:59.999Z');
const notes = { title: 'create_notes', tables: ['notes'] };

test('the name is the UTC time and the title, and the header names the tables', () => {
  expect(nameMigration(undefined, { title: 'create_tags', tables: ['tags', 'Odd'] }, now)).toEqual({
    name: '20260301095959_create_tags',
    header: ['-- fw-gen: first', '-- fw-gen: tables tags, "Odd"'],
  });
});

test('names sort after numbered ones, and after times that are ahead of this clock', () => {
  expect(nameMigration('0002_b', notes, now)).toEqual({
    name: '20260301095959_create_notes',
    header: ['-- fw-gen: after 0002_b', '-- fw-gen: tables notes'],
  });
  for (const ahead of ['20260301095959_same', '20260301120000_ahead']) {
    const { name } = nameMigration(ahead, notes, now);
    expect([ahead, name].sort()).toEqual([ahead, name]);
    expect(name).toMatch(/^\d{14}_create_notes$/);
  }
});
