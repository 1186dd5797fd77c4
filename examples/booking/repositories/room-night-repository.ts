import { Repository, type ShardedId } from 'fw-actions';
import type { RoomNightTables } from '../generated/room-night.js';
import type { Hotel } from '../models/hotel.js';
import type { RoomNight } from '../models/room-night.js';

/** Nights by id, and by hotel and date. */
export class RoomNightRepository extends Repository<RoomNight, RoomNightTables> {
  /** Those of these nights that the hotel sells, in order; asks the shard of the hotel alone. */
  async ofHotel(hotelId: ShardedId<Hotel>, nights: readonly string[]): Promise<readonly RoomNight[]> {
    const rows = await this.queries(hotelId.resolveShardIdentifier())
      .selectFrom('room_nights')
      .select(['id', 'night'])
      .where('hotel_id', '=', hotelId.getValue())
      .where('night', 'in', nights)
      .orderBy('night')
      .execute();
    const { models } = await this.findAllByIds(rows.map(({ id }) => id));
    return models;
  }
}
