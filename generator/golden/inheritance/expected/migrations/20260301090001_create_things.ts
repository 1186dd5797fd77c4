// First migration of the table `things`, written once from things.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090001_create_things',
  `
-- fw-gen: after 20260301090000_create_parcels
-- fw-gen: tables things
create table things (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  created_by text not null,
  number text not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity')),
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create unique index things_number_key on things (number)
`,
);
