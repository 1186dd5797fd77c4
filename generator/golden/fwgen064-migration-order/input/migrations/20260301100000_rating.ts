import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301100000_rating',
  `
-- fw-gen: after 0001_create_notes
-- fw-gen: tables notes
alter table notes add column rating float8
`,
);
