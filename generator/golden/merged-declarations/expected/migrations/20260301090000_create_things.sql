-- fw-gen: first
-- fw-gen: tables things
-- The table of thing.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table things (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  color text not null,
  size text not null,
  "both" text,
  neither text not null,
  parts jsonb,
  maybe text,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
