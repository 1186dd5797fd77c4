// First migration of the table `tickets`, written once from models/ticket.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_tickets',
  `
-- fw-gen: first
-- fw-gen: tables tickets
create table tickets (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity')),
  owner uuid not null,
  local jsonb not null,
  "when" timestamptz not null,
  at jsonb not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
