import { atMost } from '../../concurrency/at-most.js';
import type { LeasedLoop, LeasedWork, RunEnd } from '../delivery/leased-loop.js';
import type { OwnWork } from '../delivery/shard-delivery.js';
import type { UpcomingSchedules } from './schedule-store.js';
import { ScheduledWork, type ScheduledWorkOptions } from './scheduled-work.js';

/** Time for which a suspected action runs alone before others start, in milliseconds. */
const ALONE_MS = 2_000;
/** Maximum time until an action that another process scheduled is noticed, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/** Runs the scheduled actions of one shard. */
export function scheduledActions(options: ScheduledWorkOptions): OwnWork {
  const work = new ScheduledWork(options);
  return {
    name: '#schedules',
    start: (loop) => new ScheduleRun(work, loop),
    drain: (graceMs) => work.drain(graceMs),
  };
}

/**
 * Claims the scheduled actions of one shard when they are due. Each finished action makes room for the next, so a slow
 * one occupies a single slot.
 */
class ScheduleRun implements LeasedWork {
  readonly title: string = 'Scheduled actions';
  readonly failurePauseMs: number = LONGEST_WAIT_MS;
  readonly #work: ScheduledWork;
  readonly #loop: LeasedLoop;
  /** Whether more actions may be due than there was room for. */
  #isFull = false;

  constructor(work: ScheduledWork, loop: LeasedLoop) {
    this.#work = work;
    this.#loop = loop;
  }

  /** After any other end, another process may treat the running actions as left behind. */
  async close({ kind }: RunEnd): Promise<void> {
    if (kind === 'stopped' || kind === 'waiting') await this.#work.drain(this.#loop.graceMs);
  }

  async round(): Promise<void> {
    const work = this.#work;
    work.requireStored();
    await this.#begin(work.room);
    if (this.#isFull) {
      if (work.room === 0) await this.#loop.wakeUp.wait(LONGEST_WAIT_MS);
      return;
    }
    const { newer, dueMs = LONGEST_WAIT_MS } = await work.schedules.upcoming(work.running);
    if (newer !== undefined) this.#loop.finish({ kind: 'waiting', reason: this.#lacks(newer) });
    else await this.#loop.wakeUp.wait(Math.min(dueMs, LONGEST_WAIT_MS));
  }

  /** Starts due actions, as far as there is room. */
  async #begin(room: number): Promise<void> {
    const work = this.#work;
    const { schedules, running, unsettled } = work;
    const due = room === 0 ? [] : await schedules.claim(this.#loop.lease.lease, room, running, unsettled);
    const ends = due.map((action) => work.start(action).then(() => this.#ended()));
    const [first] = due;
    this.#isFull = due.length === room || first?.isLeftBehind === true;
    // A suspected action runs alone for a while: if the process dies, other running actions would be suspected too.
    const isSuspect = first?.isLeftBehind === true && !unsettled.includes(first.id);
    if (isSuspect) await atMost(Promise.all(ends), ALONE_MS);
  }

  #ended(): void {
    if (this.#isFull) this.#loop.wakeUp.notify();
  }

  #lacks({ actionName, paramsVersion }: NonNullable<UpcomingSchedules['newer']>): string {
    if (!this.#work.knows(actionName)) return `this process does not know the scheduled action ${actionName}`;
    return `version ${paramsVersion} of the params of ${actionName} is newer than this process knows`;
  }
}
