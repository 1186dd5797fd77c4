// First migration of the table `dates`, written once from models/date.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_dates',
  `
-- fw-gen: first
-- fw-gen: tables dates
create table dates (
  id uuid primary key,
  state text not null,
  version bigint not null,
  "order" text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
