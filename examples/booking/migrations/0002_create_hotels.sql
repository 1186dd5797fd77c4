create table hotels (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  name text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
