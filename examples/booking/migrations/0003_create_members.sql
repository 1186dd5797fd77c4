create table members (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  name text not null,
  credit numeric(19,4) not null check (credit not in ('NaN', 'Infinity', '-Infinity')),
  points bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
