-- fw-gen: first
-- fw-gen: tables places
-- The table of sample.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table places (
  id uuid primary key,
  state text not null,
  version bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
