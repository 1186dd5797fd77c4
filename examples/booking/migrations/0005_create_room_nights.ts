// First migration of the table `room_nights`, written once from models/room-night.ts.
// It is yours from here on: fw-gen never writes it again. Change the table by a migration with a higher number.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0005_create_room_nights',
  `
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
`,
);
