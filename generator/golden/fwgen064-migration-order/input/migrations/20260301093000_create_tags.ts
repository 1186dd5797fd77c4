import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301093000_create_tags',
  `
-- fw-gen: after 0001_create_notes
-- fw-gen: tables tags
create table tags (id uuid primary key)
`,
);
