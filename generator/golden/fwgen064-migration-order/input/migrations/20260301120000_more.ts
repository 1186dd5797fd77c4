import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301120000_more',
  `
-- fw-gen: after 20260301110000_after_the_merge
-- fw-gen: tables notes
alter table notes add column more text
`,
);
