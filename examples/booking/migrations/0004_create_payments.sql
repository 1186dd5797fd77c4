create table payments (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  booking_id uuid not null,
  member_id uuid not null,
  amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity')),
  reason text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
