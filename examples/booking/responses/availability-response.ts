import type { Decimal } from 'fw-actions';
import type { RoomNight } from '../models/room-night.js';

/** One night of a hotel. */
export interface NightResponse {
  readonly night: string;
  /** Rooms that are left. */
  readonly left: number;
  readonly price: Decimal;
}

/** The nights of a hotel as callers see them. */
export class AvailabilityResponse {
  readonly nights: readonly NightResponse[];

  private constructor(nights: readonly NightResponse[]) {
    this.nights = nights;
  }

  static from(nights: readonly RoomNight[]): AvailabilityResponse {
    return new AvailabilityResponse(
      nights.map(({ night, rooms, booked, price }) => ({ night, left: rooms - booked, price })),
    );
  }
}
