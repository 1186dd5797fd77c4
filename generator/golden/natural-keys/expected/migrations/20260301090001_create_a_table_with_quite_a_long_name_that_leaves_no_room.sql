-- fw-gen: after 20260301090000_create_guests
-- fw-gen: tables a_table_with_quite_a_long_name_that_leaves_no_room
-- The table of guest.ts, written once by fw-gen. It is yours now: change the table in a later migration.
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
create unique index a_table_with_quite_a_long_name_that_leaves_no_room_408af813_key on a_table_with_quite_a_long_name_that_leaves_no_room (hotel, night, "order", rate, currency);
