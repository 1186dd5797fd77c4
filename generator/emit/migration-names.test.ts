import { expect, test } from 'vitest';
import { nameMigrations } from './migration-names.js';

const now = new Date('2026-03-01T09:59:59.999Z');
const notes = { title: 'create_notes', tables: ['notes'] };
const tags = { title: 'create_tags', tables: ['tags', 'Odd'] };

test('names are UTC times in the order of writing, and headers name the migration before', () => {
  expect(nameMigrations([], [notes, tags], now)).toMatchObject([
    { name: '20260301095959_create_notes', header: ['-- fw-gen: first', '-- fw-gen: tables notes'] },
    {
      name: '20260301100000_create_tags',
      header: ['-- fw-gen: after 20260301095959_create_notes', '-- fw-gen: tables tags, "Odd"'],
    },
  ]);
});

test('names sort after numbered ones, and after times that are ahead of this clock', () => {
  expect(nameMigrations([{ name: '0002_b' }, { name: '0001_a' }], [notes], now)).toMatchObject([
    {
      name: '20260301095959_create_notes',
      header: ['-- fw-gen: after 0002_b', '-- fw-gen: tables notes'],
    },
  ]);
  for (const ahead of ['20260301095959_same', '20260301120000_ahead']) {
    const [{ name = '' } = {}] = nameMigrations([{ name: '0001_a' }, { name: ahead }], [notes], now);
    expect([ahead, name].sort()).toMatchObject([ahead, name]);
    expect(name).toMatch(/^\d{14}_create_notes$/);
  }
});
