// First migration of the table `sales`, written once from sales.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_sales',
  `
-- fw-gen: first
-- fw-gen: tables sales
create table sales (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity')),
  title text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
