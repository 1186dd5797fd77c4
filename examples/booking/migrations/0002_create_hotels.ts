// First migration of the table `hotels`, written once from models/hotel.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0002_create_hotels',
  `
create table hotels (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  name text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
