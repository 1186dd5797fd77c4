// First migration of the table `notes`, written once from note.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_notes',
  `
-- fw-gen: first
-- fw-gen: tables notes
create table notes (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  text text not null,
  due timestamptz not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
