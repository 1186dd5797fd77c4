create table transfers (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  source_id uuid not null,
  destination_id uuid not null,
  amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity')),
  currency char(3) not null,
  reason text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
