import { defineMigration, type Migration } from 'fw-actions/codegen';

/** One row per hotel and night, found by both. */
export const migration: Migration = defineMigration(
  '0006_find_room_nights',
  'create unique index room_nights_hotel_id_night on room_nights (hotel_id, night)',
);
