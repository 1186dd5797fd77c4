create table room_nights (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  hotel_id uuid not null,
  night text not null,
  rooms bigint not null,
  booked bigint not null,
  price numeric(19,4) not null check (price not in ('NaN', 'Infinity', '-Infinity'))
)
