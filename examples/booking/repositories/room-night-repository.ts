import { Repository, type ShardedId, type ShardIdentifier } from 'fw-actions';
import type { RoomNightTables } from '../generated/room-night.js';
import type { Hotel } from '../models/hotel.js';
import type { RoomNight } from '../models/room-night.js';

/** Nights by id, and by hotel and date. */
export class RoomNightRepository extends Repository<RoomNight, RoomNightTables> {
  /** Returns the nights that the hotel sells, in order. All look-ups are sent as one statement. */
  async ofHotel(hotelId: ShardedId<Hotel>, nights: readonly string[]): Promise<readonly RoomNight[]> {
    const shard = hotelId.resolveShardIdentifier();
    const found = await Promise.all(nights.map((night) => this.findByKey({ hotelId, night }, shard)));
    return found.filter((night) => night !== undefined);
  }

  /** Returns the unsold nights of one date on one shard. */
  async unsold(shard: ShardIdentifier, night: string): Promise<readonly RoomNight[]> {
    const rows = await this.queries(shard)
      .selectFrom('room_nights')
      .select('id')
      .where('night', '=', night)
      .where('booked', '=', '0')
      .execute();
    const { models } = await this.findAllByIds(rows.map(({ id }) => id));
    return models;
  }
}
