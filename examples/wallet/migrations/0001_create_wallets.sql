create table wallets (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  owner_id uuid not null,
  currency char(3) not null,
  balance numeric(19,4) not null check (balance not in ('NaN', 'Infinity', '-Infinity')),
  created_date timestamptz not null,
  updated_date timestamptz not null
)
