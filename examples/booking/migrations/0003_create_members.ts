// First migration of the table `members`, written once from models/member.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0003_create_members',
  `
create table members (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  name text not null,
  credit numeric(19,4) not null check (credit not in ('NaN', 'Infinity', '-Infinity')),
  points bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
