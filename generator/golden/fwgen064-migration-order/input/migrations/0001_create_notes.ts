import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0001_create_notes',
  `
-- fw-gen: first
-- fw-gen: tables notes
create table notes (id uuid primary key)
`,
);
