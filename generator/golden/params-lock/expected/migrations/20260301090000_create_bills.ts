// First migration of the table `bills`, written once from bill.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_bills',
  `
-- fw-gen: first
-- fw-gen: tables bills
create table bills (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
