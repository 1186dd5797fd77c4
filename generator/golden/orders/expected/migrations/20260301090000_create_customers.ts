// First migration of the table `customers`, written once from models/customer.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_customers',
  `
-- fw-gen: first
-- fw-gen: tables customers
create table customers (
  id uuid primary key,
  state text not null,
  version bigint not null,
  name text not null,
  parent_id uuid
)
`,
);
