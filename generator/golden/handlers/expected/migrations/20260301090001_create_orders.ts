// First migration of the table `orders`, written once from models/order.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090001_create_orders',
  `
-- fw-gen: after 20260301090000_create_customers
-- fw-gen: tables orders
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
)
`,
);
