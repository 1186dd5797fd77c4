// First migration of the table `wallets`, written once from purse.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_wallets',
  `
-- fw-gen: first
-- fw-gen: tables wallets
create table wallets (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  owner text not null,
  parent uuid,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
