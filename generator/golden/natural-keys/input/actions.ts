import { Action, type Clock, FwAction, type Principal, ShardIdentifier } from 'fw-actions';
import type { GuestRepository } from './generated/guest.js';
import type { RoomRepository } from './generated/room.js';
import { Guest, type Room } from './guest.js';

export interface CheckInParams {
  readonly country: string;
  readonly email: string;
}

/** Whoever has an address asks the same shard for it: what a key's shard depends on never changes. */
export function shardOf(country: string): ShardIdentifier {
  return country === 'MX' ? ShardIdentifier.of(1, 0) : ShardIdentifier.of(0, 0);
}

@FwAction
export class CheckInAction extends Action<CheckInParams, Guest> {
  readonly #guests: GuestRepository;

  constructor(clock: Clock, guests: GuestRepository) {
    super(clock);
    this.#guests = guests;
  }

  protected async perform(_principal: Principal, { country, email }: CheckInParams): Promise<Guest> {
    const guest = await this.plan().getOrAdd(
      this.#guests,
      Guest.of(shardOf(country), email, this.clock.now()),
    );
    return guest.nickname === null ? guest : this.plan().update(guest.greeted());
  }
}

@FwAction
export class FindGuestAction extends Action<CheckInParams, Guest | undefined> {
  readonly #guests: GuestRepository;
  readonly #rooms: RoomRepository;

  constructor(clock: Clock, guests: GuestRepository, rooms: RoomRepository) {
    super(clock);
    this.#guests = guests;
    this.#rooms = rooms;
  }

  protected async perform(
    _principal: Principal,
    { country, email }: CheckInParams,
  ): Promise<Guest | undefined> {
    const shard = shardOf(country);
    await this.#guests.getByKey({ country, passportNumber: '1' }, shard);
    // @ts-expect-error a sharded model is looked for on one shard
    await this.#guests.findByKey({ email });
    // @ts-expect-error no key has this field
    await this.#guests.findByKey({ nickname: 'Joe' }, shard);
    // @ts-expect-error no key has these fields
    await this.#guests.getByKey({ country: 'MX' }, shard);
    // @ts-expect-error a field has its model's type
    await this.#guests.getByKey({ email: 1 }, shard);
    return this.#guests.findByKey({ email }, shard);
  }

  protected find(room: Room): Promise<Room> {
    const { hotel, night, order, rate, currency } = room;
    // @ts-expect-error a model without a sharded id is on the default shard
    void this.#rooms.getByKey({ hotel, night, order, rate, currency }, shardOf('MX'));
    return this.#rooms.getByKey({ hotel, night, order, rate, currency });
  }
}
