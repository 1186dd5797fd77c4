import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_color',
  `
-- fw-gen: after 0001_create_notes
-- fw-gen: tables notes
alter table notes add column color text
`,
);
