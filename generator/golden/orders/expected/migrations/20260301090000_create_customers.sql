-- fw-gen: first
-- fw-gen: tables customers
-- The table of models/customer.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table customers (
  id uuid primary key,
  state text not null,
  version bigint not null,
  name text not null,
  parent_id uuid
);
