create table bookings (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  hotel_id uuid not null,
  member_id uuid not null,
  room_night_ids jsonb not null,
  total numeric(19,4) not null check (total not in ('NaN', 'Infinity', '-Infinity')),
  hold_until timestamptz not null,
  release_id text,
  reason text,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
