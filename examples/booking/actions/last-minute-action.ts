import { Action, type Clock, FwAction, FwSchedule, type Principal, ShardIdentifier } from 'fw-actions';
import { nightAfter } from '../nights.js';
import type { RoomNightRepository } from '../repositories/room-night-repository.js';

export interface LastMinuteParams {
  readonly group: number;
  readonly member: number;
}

/** Lowers the prices of unsold nights, one evening ahead. Runs on each shard. */
@FwAction
@FwSchedule({ cron: '0 18 * * *', zone: 'Europe/Berlin', on: 'each-shard', missed: 'skip' })
export class LastMinuteAction extends Action<LastMinuteParams, void> {
  readonly #nights: RoomNightRepository;

  constructor(clock: Clock, nights: RoomNightRepository) {
    super(clock);
    this.#nights = nights;
  }

  protected async perform(_principal: Principal, { group, member }: LastMinuteParams): Promise<void> {
    const shard = ShardIdentifier.of(group, member);
    const unsold = await this.#nights.unsold(shard, nightAfter(this.clock.now()));
    for (const night of unsold) this.plan().update(night.reduced());
  }
}
