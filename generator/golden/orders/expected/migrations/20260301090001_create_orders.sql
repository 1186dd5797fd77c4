-- fw-gen: after 20260301090000_create_customers
-- fw-gen: tables orders
-- The table of models/order.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table orders (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  customer_id uuid not null,
  total numeric(38,18) not null check (total not in ('NaN', 'Infinity', '-Infinity')),
  remark text,
  approved_by text,
  reference bigint not null,
  priority text not null,
  origin text not null,
  is_gift boolean not null,
  weight double precision not null check (weight not in ('NaN', 'Infinity', '-Infinity')),
  lines bigint not null,
  due_date timestamptz,
  address jsonb not null,
  tags jsonb not null,
  extra jsonb not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
