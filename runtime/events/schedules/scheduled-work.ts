import type { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { atMost } from '../../concurrency/at-most.js';
import { backoffMs } from '../../concurrency/backoff.js';
import { time } from '../../concurrency/time.js';
import { shardOfUuid } from '../../domain/id.js';
import { compileObjectReader } from '../../domain/json-codec.js';
import { storedPrincipal } from '../../domain/principal.js';
import { UnknownActionError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { during, startCaused } from '../../tracing.js';
import { HandlerDied } from '../delivery/counted-attempts.js';
import { failureOf, isOutOfReach } from '../delivery/handler-attempts.js';
import type { LeasedLoop, LeasedWork, RunEnd } from '../delivery/leased-loop.js';
import type { OwnWork } from '../delivery/shard-delivery.js';
import type { RecurringWork } from './recurring-work.js';
import type { DueAction, ScheduleStore, UpcomingSchedules } from './schedule-store.js';

export interface ScheduledWorkOptions<Store = ScheduleStore> {
  readonly schedules: Store;
  readonly executor: ActionRunner;
  readonly registry: ActionRegistry;
  readonly warn: (message: string) => void;
  readonly random: () => number;
}

/** Maximum actions of one shard that run in parallel in one process. */
export const MAXIMUM_RUNNING = 64;
/** Attempts before a scheduled action fails permanently; with the pauses that is about a quarter of an hour. */
const MAXIMUM_ATTEMPTS = 12;
const RETRY_DELAY_MS = 200;
const LONGEST_RETRY_DELAY_MS = 300_000;
/** Maximum pause while a shard is unreachable, in milliseconds. */
const LONGEST_PASSING_DELAY_MS = 5_000;
/** Time for which an action that may have crashed a process runs alone before others start, in milliseconds. */
const ALONE_MS = 2_000;
/** Maximum time until an action that another process scheduled is noticed, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/** Runs the scheduled and recurring actions of one shard. */
export function scheduledActions({
  recurring,
  ...options
}: ScheduledWorkOptions & { readonly recurring: RecurringWork }): OwnWork {
  const work = new ScheduledWork(options);
  return {
    name: '#schedules',
    register: (process) => recurring.register(process),
    start: (loop) => new ScheduleRun(work, recurring, loop),
    drain: (graceMs) => work.drain(graceMs),
  };
}

/**
 * Executes the scheduled actions of one shard, each under its own idempotency key. An action that was started under a
 * lost lease continues: the next run of this process must not treat it as left behind.
 */
export class ScheduledWork<Store extends Pick<ScheduleStore, 'done' | 'failed'> = ScheduleStore> {
  readonly schedules: Store;
  readonly #options: ScheduledWorkOptions<Store>;
  /** Running actions by id. Their promises never reject. */
  readonly #running = new Map<string, Promise<void>>();
  /** Consecutive failures that do not count as attempts, by action. */
  readonly #passed = new Map<string, number>();
  #abort = new AbortController();
  /** The error that kept an outcome from being stored. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ScheduledWorkOptions<Store>) {
    this.#options = options;
    this.schedules = options.schedules;
  }

  /** Whether this process has an action of this name. */
  knows(actionName: string): boolean {
    return this.#options.registry.named(actionName) !== undefined;
  }

  /** How many more actions may start. */
  get room(): number {
    return MAXIMUM_RUNNING - this.#running.size;
  }

  /** Ids of the running actions. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Executes an action and stores the outcome. Never rejects. */
  start(due: DueAction): Promise<void> {
    const ended = this.#execute(due)
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .then(() => void this.#running.delete(due.id));
    this.#running.set(due.id, ended);
    return ended;
  }

  /** @throws unknown error that has kept an outcome from being stored since the last call */
  requireStored(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /** Waits for the running actions. @param graceMs milliseconds after which they are aborted. Default: never */
  async drain(graceMs?: number): Promise<void> {
    const abort = this.#abort;
    const timer = graceMs === undefined ? undefined : time.setTimeout(() => abort.abort(), graceMs);
    await Promise.all(this.#running.values());
    time.clearTimeout(timer);
    if (abort.signal.aborted) this.#abort = new AbortController();
  }

  async #execute(due: DueAction): Promise<void> {
    const { executor } = this.#options;
    const { signal } = this.#abort;
    try {
      // The stored attempts include those that crashed their process.
      if (due.attempts >= MAXIMUM_ATTEMPTS) throw new HandlerDied(due.attempts);
      const { actionClass, params } = this.#resolve(due);
      const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(signal);
      // The id alone identifies the request: an earlier process may have known another version of its params.
      const key = { home: shardOfUuid(due.id), expires: false, request: due.id };
      runUnderOwnKey(configuration, ['schedule', due.id], key);
      if (due.traceContext !== undefined) configuration.traceContext(due.traceContext);
      const principal = storedPrincipal(due.principal, due.claims);
      const span = startCaused(`scheduled ${due.actionName}`, {
        kind: 'CONSUMER',
        traceContext: due.traceContext,
        attributes: { 'fw.schedule.id': due.id, 'fw.attempt': due.attempts + 1 },
      });
      await during(span, () =>
        executor.execute(principal, actionClass, params as never, configuration.build()),
      );
    } catch (error) {
      await this.#failed(due, error, signal.aborted);
      return;
    }
    await this.schedules.done(due.id);
    this.#passed.delete(due.id);
  }

  /** A failure because a shard is unreachable, or because this process ends, does not count as an attempt. */
  async #failed(due: DueAction, error: unknown, isAborted: boolean): Promise<void> {
    const { warn, random } = this.#options;
    if (isAborted || isOutOfReach(error)) {
      const passed = (this.#passed.get(due.id) ?? 0) + 1;
      this.#passed.set(due.id, passed);
      await this.schedules.failed(due, failureOf(error, due.attempts), passingPauseMs(passed, random));
      return;
    }
    this.#passed.delete(due.id);
    const failure = failureOf(error, due.attempts + 1);
    const last = failure.attempts >= MAXIMUM_ATTEMPTS;
    if (last) warn(`Scheduled action ${due.id} (${due.actionName}) is given up: ${failure.message}`);
    await this.schedules.failed(due, failure, last ? undefined : attemptPauseMs(failure.attempts, random));
  }

  /**
   * @throws UnknownActionError for an action that this process does not know
   * @throws ValidationError if an upcaster throws, or params do not fit the action
   */
  #resolve({ actionName, params: stored, paramsVersion }: DueAction): {
    readonly actionClass: never;
    readonly params: unknown;
  } {
    const { registry } = this.#options;
    const action = registry.named(actionName);
    if (action === undefined) throw new UnknownActionError(`There is no action ${actionName}`);
    const params = registry.upcastParams(actionName, { version: paramsVersion, params: stored });
    return {
      actionClass: action.actionClass as never,
      params: compileObjectReader(action.params)(params),
    };
  }
}

/**
 * Claims the scheduled actions of one shard when they are due. Each finished action makes room for the next, so a slow
 * one occupies a single slot.
 */
class ScheduleRun implements LeasedWork {
  readonly title: string = 'Scheduled actions';
  readonly failurePauseMs: number = LONGEST_WAIT_MS;
  readonly #work: ScheduledWork;
  readonly #recurring: RecurringWork;
  readonly #loop: LeasedLoop;
  /** Whether more actions may be due than there was room for. */
  #isFull = false;

  constructor(work: ScheduledWork, recurring: RecurringWork, loop: LeasedLoop) {
    this.#work = work;
    this.#recurring = recurring;
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
    const { newer, dueMs = LONGEST_WAIT_MS, hasRecurring } = await work.schedules.upcoming(work.running);
    const recursMs = await this.#recurring.round(this.#loop.lease.lease.holder, !hasRecurring);
    if (recursMs === 0) return;
    if (newer !== undefined) this.#loop.finish({ kind: 'waiting', reason: this.#lacks(newer) });
    else await this.#loop.wakeUp.wait(Math.min(dueMs, recursMs, LONGEST_WAIT_MS));
  }

  /** Starts due actions, as far as there is room. */
  async #begin(room: number): Promise<void> {
    const work = this.#work;
    const due = room === 0 ? [] : await work.schedules.claim(this.#loop.lease.lease, room, work.running);
    const ends = due.map((action) => work.start(action).then(() => this.#ended()));
    const isLeftBehind = due[0]?.isLeftBehind === true;
    this.#isFull = due.length === room || isLeftBehind;
    // It runs alone for a while: if the process dies of it, the attempt should not count against others.
    if (isLeftBehind) await atMost(Promise.all(ends), ALONE_MS);
  }

  #ended(): void {
    if (this.#isFull || this.#recurring.isHeldUp) this.#loop.wakeUp.notify();
  }

  #lacks({ actionName, paramsVersion }: NonNullable<UpcomingSchedules['newer']>): string {
    if (!this.#work.knows(actionName)) return `this process does not know the scheduled action ${actionName}`;
    return `version ${paramsVersion} of the params of ${actionName} is newer than this process knows`;
  }
}

/** Pause after failed attempts, in milliseconds. @param failures so far @param random from 0 to 1 */
function attemptPauseMs(failures: number, random: () => number): number {
  return pauseMs(failures, LONGEST_RETRY_DELAY_MS, random);
}

/** Pause after consecutive failures that do not count as attempts, in milliseconds. */
function passingPauseMs(failures: number, random: () => number): number {
  return pauseMs(failures, LONGEST_PASSING_DELAY_MS, random);
}

function pauseMs(failures: number, longestMs: number, random: () => number): number {
  return backoffMs(failures, { firstMs: RETRY_DELAY_MS, longestMs, least: 'half' }, random());
}
