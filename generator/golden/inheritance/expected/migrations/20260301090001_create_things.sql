-- fw-gen: after 20260301090000_create_parcels
-- fw-gen: tables things
-- The table of things.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table things (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  created_by text not null,
  "state-before" text,
  number text not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity')),
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create unique index things_number_key on things (number);
