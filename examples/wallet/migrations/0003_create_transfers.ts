// First migration of the table `transfers`, written once from examples/wallet/models/transfer.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0003_create_transfers',
  `
create table transfers (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  source_id uuid not null,
  destination_id uuid not null,
  amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity')),
  currency char(3) not null,
  reason text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
