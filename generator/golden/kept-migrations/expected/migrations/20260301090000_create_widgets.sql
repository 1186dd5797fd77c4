-- fw-gen: after 0003_by_hand
-- fw-gen: tables widgets
-- The table of gadget.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table widgets (
  id uuid primary key,
  state text not null,
  version bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
