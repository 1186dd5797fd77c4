import { atMost } from '../../concurrency/at-most.js';
import { time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { HeldLease } from '../delivery/held-lease.js';
import type { Run, RunEnd } from '../delivery/run.js';
import { Signal } from '../log/signal.js';
import type { ScheduleOutlook } from './schedule-store.js';
import type { ScheduledWork } from './scheduled-work.js';

export interface ScheduleRunOptions {
  readonly lease: HeldLease;
  readonly work: ScheduledWork;
  readonly warn: (message: string) => void;
}

/** How long an action that a process may have died of runs before others are begun beside it. */
const ALONE_MS = 2_000;
/** What other processes schedule is noticed this soon. */
const LONGEST_WAIT_MS = 1_000;

/**
 * Claims the scheduled actions of one shard when they are due. Each that ends makes room for the next one, so that a
 * slow one takes a single place.
 */
export class ScheduleRun implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #options: ScheduleRunOptions;
  readonly #signal = new Signal();
  /** More may be due than there was room for. */
  #isFull = false;
  #graceMs: number | undefined;
  #isSuperseded = false;

  constructor(options: ScheduleRunOptions) {
    this.#options = options;
    this.ended = this.#run();
  }

  wake(): void {
    this.#signal.notify();
  }

  supersede(): void {
    this.#isSuperseded = true;
    this.#signal.notify();
  }

  async stop(graceMs: number): Promise<void> {
    this.#graceMs ??= graceMs;
    this.#signal.notify();
    await this.ended;
  }

  async #run(): Promise<RunEnd> {
    let end: RunEnd | undefined;
    while (end === undefined) {
      try {
        end = await this.#step();
      } catch (error) {
        // The shard was removed by a reload, or the databases were closed: nothing is left to do.
        if (error instanceof DriverFailure && error.reason === 'closed') end = { kind: 'lost' };
        else await this.#pauseAfter(error);
      }
    }
    // Another process takes what is still running then for left behind.
    if (end.kind === 'stopped' || end.kind === 'waiting') await this.#options.work.drain(this.#graceMs);
    return end;
  }

  async #step(): Promise<RunEnd | undefined> {
    const { lease, work } = this.#options;
    if (this.#graceMs !== undefined) return { kind: 'stopped' };
    if (!lease.valid) return { kind: 'lost' };
    if (this.#isSuperseded) return { kind: 'superseded' };
    work.requireStored();
    await this.#begin(work.room);
    if (this.#isFull) {
      if (work.room === 0) await this.#signal.wait(LONGEST_WAIT_MS);
      return undefined;
    }
    const { newer, dueMs = LONGEST_WAIT_MS } = await work.schedules.outlook(work.running);
    if (newer !== undefined) return { kind: 'waiting', reason: tooNew(newer) };
    await this.#signal.wait(Math.min(dueMs, LONGEST_WAIT_MS));
    return undefined;
  }

  /** Begins what is due, as far as there is room for it. */
  async #begin(room: number): Promise<void> {
    const { lease, work } = this.#options;
    const { schedules, running, unsettled } = work;
    const due = room === 0 ? [] : await schedules.claim(lease.lease, room, running, unsettled);
    const ends = due.map((action) => work.start(action).then(() => this.#ended()));
    const [first] = due;
    this.#isFull = due.length === room || first?.isLeftBehind === true;
    // One that a process may have died of gets time of its own: others that died with it would be blamed as well.
    const isSuspect = first?.isLeftBehind === true && !unsettled.includes(first.id);
    if (isSuspect) await atMost(Promise.all(ends), ALONE_MS);
  }

  #ended(): void {
    if (this.#isFull) this.#signal.notify();
  }

  /** What ends meanwhile, or becomes due, does not end the pause. */
  async #pauseAfter(error: unknown): Promise<void> {
    this.#options.warn(`Scheduled actions: ${messageOf(error)}`);
    const untilMs = time.nowMs() + LONGEST_WAIT_MS;
    while (this.#graceMs === undefined && time.nowMs() < untilMs) {
      await this.#signal.wait(untilMs - time.nowMs());
    }
  }
}

function tooNew({ actionName, paramsVersion }: NonNullable<ScheduleOutlook['newer']>): string {
  return `version ${paramsVersion} of the params of ${actionName} is newer than this process knows`;
}
