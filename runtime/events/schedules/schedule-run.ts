import type { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { backoffMs } from '../../concurrency/backoff.js';
import { time } from '../../concurrency/time.js';
import { shardOfUuid } from '../../domain/id.js';
import { compileObjectReader } from '../../domain/json-reader.js';
import { storedPrincipal } from '../../domain/principal.js';
import { messageOf, UnknownActionError } from '../../errors.js';
import type { ActionExecutor } from '../../execution/action-executor.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { HandlerDied } from '../delivery/crash-suspects.js';
import { failureOf, isOutOfReach } from '../delivery/handler-attempts.js';
import type { HeldLease } from '../delivery/held-lease.js';
import type { Run, RunEnd } from '../delivery/run.js';
import { Signal } from '../log/signal.js';
import type { DueAction, ScheduleOutlook, ScheduleStore } from './schedule-store.js';

export interface ScheduleRunOptions {
  readonly lease: HeldLease;
  readonly schedules: ScheduleStore;
  readonly executor: ActionExecutor;
  readonly registry: ActionRegistry;
  readonly warn: (message: string) => void;
  readonly random: () => number;
}

const PAGE = 64;
/** Attempts before a scheduled action is given up as failed; with the pauses that is about a quarter of an hour. */
export const MAXIMUM_ATTEMPTS = 12;
const RETRY_DELAY_MS = 200;
const LONGEST_RETRY_DELAY_MS = 300_000;
/** Longest pause while a shard is out of reach. */
const LONGEST_PASSING_DELAY_MS = 5_000;
/** What other processes schedule is noticed this soon. */
const LONGEST_WAIT_MS = 1_000;

/** Runs scheduled actions of one shard when they are due, each under a key of its own. */
export class ScheduleRun implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #options: ScheduleRunOptions;
  readonly #signal = new Signal();
  readonly #abort = new AbortController();
  /** Claimed by this run; their outcome could not be stored. */
  readonly #unsettled = new Set<string>();
  /** Failures in a row that do not count as attempts, by action. */
  readonly #passed = new Map<string, number>();
  #stopping = false;
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
    this.#stopping = true;
    this.#signal.notify();
    const timer = time.setTimeout(() => this.#abort.abort(), graceMs);
    await this.ended;
    time.clearTimeout(timer);
  }

  async #run(): Promise<RunEnd> {
    const { lease, schedules, warn } = this.#options;
    while (!this.#stopping) {
      if (!lease.valid) return { kind: 'lost' };
      if (this.#isSuperseded) return { kind: 'superseded' };
      try {
        const due = await schedules.claim(lease.lease, PAGE, [...this.#unsettled]);
        for (const { id } of due) this.#unsettled.add(id);
        // The next claim would take one that is still being executed for left behind.
        const ends = await Promise.allSettled(due.map((action) => this.#execute(action)));
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
        if (due.length > 0) continue;
        const { newer, dueMs = LONGEST_WAIT_MS } = await schedules.outlook();
        if (newer !== undefined) return { kind: 'waiting', reason: tooNew(newer) };
        await this.#signal.wait(Math.min(dueMs, LONGEST_WAIT_MS));
      } catch (error) {
        // The shard was removed by a reload, or the databases were closed: nothing is left to do.
        if (error instanceof DriverFailure && error.reason === 'closed') return { kind: 'lost' };
        warn(`Scheduled actions: ${messageOf(error)}`);
        await this.#signal.wait(LONGEST_WAIT_MS);
      }
    }
    return { kind: 'stopped' };
  }

  async #execute(due: DueAction): Promise<void> {
    const { executor, schedules } = this.#options;
    try {
      // The stored attempts include those whose process died.
      if (due.attempts >= MAXIMUM_ATTEMPTS) throw new HandlerDied(due.attempts);
      const { actionClass, params } = this.#resolve(due);
      const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(
        this.#abort.signal,
      );
      // The id says all: a process that has taken it before may have known its params in another version.
      const key = { home: shardOfUuid(due.id), expires: false, request: due.id };
      runUnderOwnKey(configuration, ['schedule', due.id], key);
      if (due.traceContext !== undefined) configuration.traceContext(due.traceContext);
      const principal = storedPrincipal(due.principal, due.claims);
      await executor.execute(principal, actionClass, params as never, configuration.build());
    } catch (error) {
      await this.#failed(due, error);
      this.#unsettled.delete(due.id);
      return;
    }
    await schedules.done(due.id);
    this.#passed.delete(due.id);
    this.#unsettled.delete(due.id);
  }

  /** A failure because a shard is out of reach, or because this process ends, is no attempt. */
  async #failed(due: DueAction, error: unknown): Promise<void> {
    const { schedules, warn } = this.#options;
    if (this.#abort.signal.aborted || isOutOfReach(error)) {
      const passed = (this.#passed.get(due.id) ?? 0) + 1;
      this.#passed.set(due.id, passed);
      const pauseMs = passingPauseMs(passed, this.#options.random);
      await schedules.failed(due, failureOf(error, due.attempts), pauseMs);
      return;
    }
    this.#passed.delete(due.id);
    const failure = failureOf(error, due.attempts + 1);
    const last = failure.attempts >= MAXIMUM_ATTEMPTS;
    if (last) warn(`Scheduled action ${due.id} (${due.actionName}) has failed for good: ${failure.message}`);
    const pauseMs = attemptPauseMs(failure.attempts, this.#options.random);
    await schedules.failed(due, failure, last ? undefined : pauseMs);
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

function tooNew({ actionName, paramsVersion }: NonNullable<ScheduleOutlook['newer']>): string {
  return `version ${paramsVersion} of the params of ${actionName} is newer than this process knows`;
}

/** Pause after failed attempts. @param failures so far @param random from 0 to 1 */
export function attemptPauseMs(failures: number, random: () => number): number {
  return pauseMs(failures, LONGEST_RETRY_DELAY_MS, random);
}

/** Pause after failures in a row that do not count as attempts. */
export function passingPauseMs(failures: number, random: () => number): number {
  return pauseMs(failures, LONGEST_PASSING_DELAY_MS, random);
}

function pauseMs(failures: number, longestMs: number, random: () => number): number {
  return backoffMs(failures, { firstMs: RETRY_DELAY_MS, longestMs, least: 'half' }, random());
}
