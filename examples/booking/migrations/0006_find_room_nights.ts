// Written once by fw-gen migrate diff. It is yours from here on: read it before you apply it.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0006_find_room_nights',
  `
create unique index room_nights_hotel_id_night_key on room_nights (hotel_id, night);
`,
);
