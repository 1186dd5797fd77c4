-- fw-gen: first
-- fw-gen: tables dates
-- The table of models/date.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table dates (
  id uuid primary key,
  state text not null,
  version bigint not null,
  "order" text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
