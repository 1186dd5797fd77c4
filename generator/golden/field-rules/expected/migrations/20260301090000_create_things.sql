-- fw-gen: first
-- fw-gen: tables things
-- The table of thing.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table things (
  id uuid primary key,
  state text not null,
  version bigint not null,
  title text not null,
  "order" text,
  weight numeric(19,4) check (weight not in ('NaN', 'Infinity', '-Infinity')),
  tags jsonb not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
