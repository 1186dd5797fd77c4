// First migration of the table `things`, written once from thing.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_things',
  `
-- fw-gen: first
-- fw-gen: tables things
create table things (
  id uuid primary key,
  state text not null,
  version bigint not null,
  title text not null,
  "order" text,
  weight numeric(19,4) check (weight not in ('NaN', 'Infinity', '-Infinity')),
  tags jsonb not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
