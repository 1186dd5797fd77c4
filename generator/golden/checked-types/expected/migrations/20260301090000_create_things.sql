-- fw-gen: first
-- fw-gen: tables things
-- The table of thing.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table things (
  id uuid primary key,
  state text not null,
  version bigint not null,
  basket jsonb not null,
  handler text not null,
  place jsonb not null,
  pin text not null,
  pins jsonb not null,
  card_pin text not null,
  cards jsonb not null,
  short text,
  level double precision not null check (level not in ('NaN', 'Infinity', '-Infinity')),
  lower double precision not null check (lower not in ('NaN', 'Infinity', '-Infinity')),
  state2 text not null,
  either jsonb,
  tree jsonb not null,
  prices jsonb not null,
  quote jsonb not null,
  keyed jsonb not null,
  first text not null,
  former jsonb,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
