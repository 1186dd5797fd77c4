-- fw-gen: first
-- fw-gen: tables sales
-- The table of sales.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table sales (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity')),
  title text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
