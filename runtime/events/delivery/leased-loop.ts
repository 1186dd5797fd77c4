import { setMaxListeners } from 'node:events';
import type { HeldLease } from '../../concurrency/held-lease.js';
import { type Timer, time } from '../../concurrency/time.js';
import { EventEpochError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { FailureWarnings } from '../log/failure-warnings.js';
import { Signal } from '../log/signal.js';
import type { Lease } from './consumer-store.js';

export type RunEnd =
  | { readonly kind: 'stopped' }
  /** Another process holds, or may hold, the lease. */
  | { readonly kind: 'lost' }
  /** The memory of this run no longer matches the database: it must restart from the database. */
  | {
      readonly kind: 'superseded';
      /** Ids of the last handled events that have external effects. */
      readonly handled?: readonly string[];
    }
  /** This process cannot continue; another one may. */
  | { readonly kind: 'waiting'; readonly reason: string }
  /** The consumer stops until an operator resumes it. */
  | { readonly kind: 'halted'; readonly reason: string }
  | { readonly kind: 'finished' };

/** The work of a run under its lease. */
export interface LeasedWork {
  /** Subject of the warning about a failed round. Default: the name of the consumer. */
  readonly title?: string;
  /**
   * Milliseconds after the signal after which the run ends even if a round continues. Default: it waits for the round.
   */
  readonly giveUpMs?: number;
  round(): Promise<void>;
  /**
   * Does one round of a run that is to end. Calls `finish` when no work is in progress any more. Default: no work
   * continues between two rounds, and the run ends at once.
   */
  windDown?(): Promise<void>;
  /** Called when the lease has expired by the clock of this process. Renews it if no other process has taken it. */
  regain?(): Promise<void>;
  /** Called when there may be events to read. */
  woken?(): void;
  /**
   * Waits for the work in progress when the loop has ended. Never rejects.
   *
   * @param graceMs the first grace period that `stop` received, in milliseconds
   */
  close(end: RunEnd, graceMs: number | undefined): Promise<void>;
}

/** `stopped` and `superseded`: the run is to end. */
export type RunState = 'working' | 'stopped' | 'superseded' | 'ended';

/** Pause after a failed round, or an attempt that could not start, in milliseconds. */
export const FAILURE_PAUSE_MS = 250;
/** Maximum time for work in progress before a superseded run restarts, in milliseconds. */
export const SUPERSEDED_GRACE_MS = 5_000;

/**
 * The loop of a run under a lease. The survey of the shard and the statements of the work renew the lease; the loop
 * works in rounds until something ends it.
 *
 * | event             | working                     | stopped                          | superseded                          |
 * |-------------------|-----------------------------|----------------------------------|-------------------------------------|
 * | next round        | `round`                     | `windDown`, or ended `stopped`   | `windDown`, or ended `superseded`   |
 * | lease has run out | `regain`, or ended `lost`   | before `windDown`: as working    | before `windDown`: as working       |
 * | round fails       | one warning, pause          | as working; ended `lost` if the lease has run out | as stopped         |
 * | database closed   | ended `lost`                | ended `lost`                     | ended `lost`                        |
 * | server restored   | ended `waiting`             | ended `waiting`                  | ended `waiting`                     |
 * | `stop`            | stopped                     | stopped                          | superseded, with the grace of `stop` |
 * | `supersede`       | superseded                  | superseded                       | superseded                          |
 * | `finish`          | ended                       | ended                            | ended                               |
 *
 * A round that fails like the previous one adds no warning. The first reason to end counts. `wake` ends the wait
 * between rounds, but not a pause.
 */
export class LeasedLoop {
  readonly lease: HeldLease<Lease>;
  /** Settles when the run has ended by itself or was stopped. Never rejects. */
  readonly ended: Promise<RunEnd>;
  /** Ends the wait between two rounds. Work in progress notifies it when it ends. */
  readonly wakeUp: Signal = new Signal();
  readonly #work: LeasedWork;
  readonly #warnings: FailureWarnings;
  readonly #abort = new AbortController();
  #state: Exclude<RunState, 'ended'> = 'working';
  #end: RunEnd | undefined;
  #graceMs: number | undefined;
  #giveUp: () => void = () => {};

  constructor(
    lease: HeldLease<Lease>,
    work: (loop: LeasedLoop) => LeasedWork,
    warn: (message: string) => void,
  ) {
    this.lease = lease;
    this.#warnings = new FailureWarnings(warn);
    // Every action that a handler starts adds a listener.
    setMaxListeners(0, this.#abort.signal);
    this.#work = work(this);
    const givenUp = new Promise<RunEnd>((resolve) => {
      this.#giveUp = () => resolve({ kind: 'lost' });
    });
    this.ended = Promise.race([this.#run(), givenUp]);
  }

  /** Fires when work in progress must end: its grace period is over, or the run has ended. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get state(): RunState {
    return this.#end === undefined ? this.#state : 'ended';
  }

  get mayWork(): boolean {
    return this.state === 'working' && this.lease.valid;
  }

  /** Ends the wait: there may be events to read. */
  wake(): void {
    this.#work.woken?.();
    this.wakeUp.notify();
  }

  /** Pauses before another attempt. Only the end of the run and the loss of the lease shorten a pause. */
  pause(milliseconds: number): Promise<void> {
    return this.#pauseWhile(milliseconds, () => this.mayWork);
  }

  async #pauseWhile(milliseconds: number, goesOn: () => boolean): Promise<void> {
    const untilMs = time.nowMs() + milliseconds;
    for (let leftMs = milliseconds; leftMs > 0 && goesOn(); leftMs = untilMs - time.nowMs())
      await this.wakeUp.wait(leftMs);
  }

  finish(end: RunEnd): void {
    this.#end ??= end;
    this.wakeUp.notify();
  }

  /** Lets work in progress finish, for at most `graceMs` milliseconds. Default: without a limit. */
  async stop(graceMs?: number): Promise<void> {
    if (this.#state === 'working') this.#state = 'stopped';
    this.#graceMs ??= graceMs;
    this.wakeUp.notify();
    const timer = graceMs === undefined ? undefined : this.#abortAfter(graceMs);
    await this.ended;
    time.clearTimeout(timer);
  }

  /**
   * Restarts the run because the server changed or was restarted, and the state in memory may not match it. Work in
   * progress finishes first, so that no model is handled twice at the same time.
   */
  supersede(): void {
    if (this.#state === 'superseded') return;
    this.#state = 'superseded';
    this.wakeUp.notify();
    if (this.#work.windDown !== undefined) this.#abortAfter(SUPERSEDED_GRACE_MS).unref();
  }

  #abortAfter(milliseconds: number): Timer {
    return time.setTimeout(() => {
      this.#abort.abort();
      this.wakeUp.notify();
      const { giveUpMs } = this.#work;
      if (giveUpMs !== undefined) time.setTimeout(this.#giveUp, giveUpMs).unref();
    }, milliseconds);
  }

  async #run(): Promise<RunEnd> {
    while (this.#end === undefined) {
      try {
        await this.#next(this.#state);
        this.#warnings.succeeded();
      } catch (error) {
        await this.#failed(error);
      }
    }
    this.#abort.abort();
    await this.#work.close(this.#end, this.#graceMs);
    return this.#end;
  }

  async #next(state: Exclude<RunState, 'ended'>): Promise<void> {
    const work = this.#work;
    if (state !== 'working' && work.windDown === undefined) return this.finish({ kind: state });
    if (!this.lease.valid) await work.regain?.();
    if (!this.lease.valid) this.finish({ kind: 'lost' });
    else if (state === 'working') await work.round();
    else await work.windDown?.();
  }

  async #failed(error: unknown): Promise<void> {
    const { title = this.lease.lease.name } = this.#work;
    if (error instanceof EventEpochError) return this.finish({ kind: 'waiting', reason: error.message });
    // A reload has removed the shard, or the databases were closed.
    if (error instanceof DriverFailure && error.reason === 'closed') return this.finish({ kind: 'lost' });
    this.#warnings.failed(title, error);
    if (this.#state === 'working') await this.#pauseWhile(FAILURE_PAUSE_MS, () => this.state === 'working');
    else if (this.lease.valid) await this.wakeUp.wait(FAILURE_PAUSE_MS);
    else this.finish({ kind: 'lost' });
  }
}
