import { Action, FwAction, FwSchedule } from 'fw-actions';
import type { ThingRepository } from './generated/thing.js';

interface SweepParams {
  readonly group: number;
  readonly member: number;
  /** @default 100 */
  readonly limit?: number;
}

/** On every shard, in the local night. */
@FwAction({ name: 'Thing.sweep' })
@FwSchedule({
  cron: '0 3 * * *',
  zone: 'Europe/Berlin',
  on: 'each-shard',
  missed: 'skip',
  overlap: true,
  principal: 'sweeper',
})
export class ThingSweepAction extends Action<SweepParams, void> {
  protected perform(): void {}
}

/** Once in all. */
@FwAction
@FwSchedule({ cron: '*/5 * * * 1-5' })
export class ThingCountAction extends Action<void, void> {
  readonly #things: ThingRepository;

  constructor(things: ThingRepository) {
    super({ now: () => new Date() });
    this.#things = things;
  }

  protected perform(): void {
    void this.#things;
  }
}
