// First migration of the table `a_table_with_quite_a_long_name_that_leaves_no_room`, written once from guest.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090001_create_a_table_with_quite_a_long_name_that_leaves_no_room',
  `
-- fw-gen: after 20260301090000_create_guests
-- fw-gen: tables a_table_with_quite_a_long_name_that_leaves_no_room
create table a_table_with_quite_a_long_name_that_leaves_no_room (
  id uuid primary key,
  state text not null,
  version bigint not null,
  hotel uuid not null,
  night timestamptz not null,
  "order" bigint not null,
  rate numeric(19,4) not null check (rate not in ('NaN', 'Infinity', '-Infinity')),
  currency char(3) not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create unique index a_table_with_quite_a_long_name_that_leaves_no_room_408af813_key on a_table_with_quite_a_long_name_that_leaves_no_room (hotel, night, "order", rate, currency)
`,
);
