// First migration of the table `places`, written once from sample.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_places',
  `
-- fw-gen: first
-- fw-gen: tables places
create table places (
  id uuid primary key,
  state text not null,
  version bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
