import {
  Action,
  Allow,
  type Clock,
  type Default,
  everyone,
  FwAction,
  HttpRoute,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import type { Hotel } from '../models/hotel.js';
import type { RoomNight } from '../models/room-night.js';
import { nightsFrom } from '../nights.js';
import type { RoomNightRepository } from '../repositories/room-night-repository.js';
import { AvailabilityResponse } from '../responses/availability-response.js';

export interface AvailabilityParams {
  readonly hotelId: ShardedId<Hotel>;
  /** First night. */
  readonly from: string;
  /**
   * @integer
   * @minimum 1
   * @maximum 60
   * @default 7
   */
  readonly nights: Default<number>;
}

/** Shows how many rooms are left, night by night. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/hotels/{hotelId}/nights', { response: AvailabilityResponse, tag: 'Hotels' })
export class AvailabilityAction extends Action<AvailabilityParams, readonly RoomNight[]> {
  readonly #nights: RoomNightRepository;

  constructor(clock: Clock, nights: RoomNightRepository) {
    super(clock);
    this.#nights = nights;
  }

  protected perform(_principal: Principal, params: AvailabilityParams): Promise<readonly RoomNight[]> {
    const { hotelId, from, nights } = params;
    return this.#nights.ofHotel(hotelId, nightsFrom(from, nights));
  }
}
