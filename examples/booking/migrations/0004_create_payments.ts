// First migration of the table `payments`, written once from models/payment.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0004_create_payments',
  `
create table payments (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  booking_id uuid not null,
  member_id uuid not null,
  amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity')),
  reason text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
