// First migration of the table `samples`, written once from sample.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0001_create_samples',
  `
create table samples (
  id uuid primary key,
  state text not null,
  version bigint not null,
  text text not null,
  amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity')),
  "when" timestamptz not null,
  large bigint not null,
  status text not null,
  role text not null,
  role_level double precision not null check (role_level not in ('NaN', 'Infinity', '-Infinity')),
  level double precision not null check (level not in ('NaN', 'Infinity', '-Infinity')),
  dice double precision not null check (dice not in ('NaN', 'Infinity', '-Infinity')),
  always boolean not null,
  mixed jsonb not null,
  sku text not null,
  cents double precision not null check (cents not in ('NaN', 'Infinity', '-Infinity')),
  code text not null,
  upper text not null,
  open text not null,
  element text not null,
  address jsonb not null,
  parcel jsonb not null,
  page jsonb not null,
  deep jsonb not null,
  payment jsonb not null,
  payments jsonb not null,
  either jsonb not null,
  pair jsonb not null,
  prices jsonb not null,
  flags jsonb not null,
  comment jsonb not null,
  owners jsonb not null,
  line jsonb not null,
  anything jsonb not null,
  json jsonb not null,
  absent text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
