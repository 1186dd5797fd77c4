// First migration of the table `wallets`, written once by fw-gen from examples/wallet/models/wallet.ts. It is yours from here on:
// fw-gen reads it and never writes it again. Change the table by a migration of a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0001_create_wallets',
  `
create table wallets (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  owner_id uuid not null,
  currency char(3) not null,
  balance numeric(19,4) not null check (balance not in ('NaN', 'Infinity', '-Infinity')),
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
