-- The table of `things`; ${nothing} is read from here.
create table public.things (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  name text not null default 'a\b;',
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create index on things (name);
