import type { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { atMost } from '../../concurrency/at-most.js';
import { time } from '../../concurrency/time.js';
import { shardOfUuid } from '../../domain/id.js';
import { compileObjectReader } from '../../domain/json-codec.js';
import { storedPrincipal } from '../../domain/principal.js';
import { UnknownActionError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { during, startCaused } from '../../tracing.js';
import type { Verdict } from '../delivery/attempts.js';
import { HandlerDied } from '../delivery/counted-attempts.js';
import { failureOf, isOutOfReach, judgeFailure } from '../delivery/handler-attempts.js';
import type { LeasedLoop, LeasedWork } from '../delivery/leased-loop.js';
import type { OwnWork } from '../delivery/shard-delivery.js';
import type { RecurringWork } from './recurring-work.js';
import type { DueAction, ScheduleStore, UpcomingSchedules } from './schedule-store.js';

export interface ScheduledExecution {
  readonly executor: ActionRunner;
  readonly registry: ActionRegistry;
  readonly random: () => number;
}

export interface ScheduledActionsOptions extends ScheduledExecution {
  readonly schedules: ScheduleStore;
  readonly recurring: RecurringWork;
  readonly warn: (message: string) => void;
}

export interface FailedAttempt {
  readonly error: unknown;
  readonly verdict: Verdict;
}

/** Maximum actions of one shard that run in parallel in one process. */
export const MAXIMUM_RUNNING = 64;
/** Attempts before a scheduled action fails permanently; with the pauses that is about a quarter of an hour. */
const MAXIMUM_ATTEMPTS = 12;
const RETRY_DELAY_MS = 200;
/** Time for which an action that may have crashed a process runs alone before others start, in milliseconds. */
const ALONE_MS = 2_000;
/** Maximum time until an action that another process scheduled is noticed, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;
/** Under a backlog, due actions are claimed once this many have ended: a claim costs a transaction. */
const LEAST_ROOM = 8;

/**
 * Makes an attempt at a scheduled action under an idempotency key of its own. A failure because a shard is unreachable,
 * or because this process ends, does not count.
 *
 * @param passed consecutive failures before that did not count
 * @returns undefined if it was executed
 */
export async function attemptScheduled(
  due: DueAction,
  passed: number,
  { executor, registry, random, signal }: ScheduledExecution & { readonly signal: AbortSignal },
): Promise<FailedAttempt | undefined> {
  const { id, actionName, attempts, traceContext } = due;
  try {
    // The stored attempts include those that crashed their process.
    if (attempts >= MAXIMUM_ATTEMPTS) throw new HandlerDied(attempts);
    const { actionClass, params } = resolve(due, registry);
    const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(signal);
    // The id alone identifies the request: an earlier process may have known another version of its params.
    runUnderOwnKey(configuration, ['schedule', id], { home: shardOfUuid(id), expires: false, request: id });
    if (traceContext !== undefined) configuration.traceContext(traceContext);
    const principal = storedPrincipal(due.principal, due.claims);
    const span = startCaused(`scheduled ${actionName}`, {
      kind: 'CONSUMER',
      traceContext,
      attributes: { 'fw.schedule.id': id, 'fw.attempt': attempts + 1 },
    });
    await during(span, () =>
      executor.execute(principal, actionClass, params as never, configuration.build()),
    );
    return undefined;
  } catch (error) {
    const policy = { maximumAttempts: MAXIMUM_ATTEMPTS, retryDelayMs: RETRY_DELAY_MS, random };
    const passing = signal.aborted || isOutOfReach(error) ? 'elsewhere' : undefined;
    return { error, verdict: judgeFailure(error, { attempts, passed }, policy, passing) };
  }
}

/**
 * @throws UnknownActionError for an action that this process does not know
 * @throws ValidationError if an upcaster throws, or params do not fit the action
 */
function resolve(
  { actionName, params: stored, paramsVersion }: DueAction,
  registry: ActionRegistry,
): { readonly actionClass: never; readonly params: unknown } {
  const action = registry.named(actionName);
  if (action === undefined) throw new UnknownActionError(`There is no action ${actionName}`);
  const params = registry.upcastParams(actionName, { version: paramsVersion, params: stored });
  return { actionClass: action.actionClass as never, params: compileObjectReader(action.params)(params) };
}

/**
 * Runs the scheduled and recurring actions of one shard when they are due. Each finished action makes room for the
 * next, so a slow one occupies a single slot. An action that was started under a lost lease continues: the next run of
 * this process must not treat it as left behind.
 */
export class ScheduledActions implements OwnWork {
  readonly name: string = '#schedules';
  readonly #options: ScheduledActionsOptions;
  /** Running actions by id. Their promises never reject. */
  readonly #running = new Map<string, Promise<void>>();
  /** Consecutive failures that do not count as attempts, by action. */
  readonly #passed = new Map<string, number>();
  #abort = new AbortController();
  /** The error that kept an outcome from being stored. */
  #failure: { readonly error: unknown } | undefined;
  /** Whether more actions may be due than there was room for. */
  #isFull = false;
  /** Time of the next look at recurring actions under a backlog, on the clock of `time.nowMs()`. */
  #recursAtMs = 0;
  /** Whether actions may be left behind: by the former holder, or because an outcome could not be stored. */
  #looksBehind = false;

  constructor(options: ScheduledActionsOptions) {
    this.#options = options;
  }

  register(process: string): Promise<void> {
    return this.#options.recurring.register(process);
  }

  start(loop: LeasedLoop): LeasedWork {
    this.#looksBehind = true;
    return {
      title: 'Scheduled actions',
      round: () => this.#round(loop),
      // After any other end, another process may treat the running actions as left behind.
      close: async ({ kind }, graceMs) => {
        if (kind === 'stopped' || kind === 'waiting') await this.drain(graceMs);
      },
    };
  }

  /** Waits for the running actions. @param graceMs milliseconds after which they are aborted. Default: never */
  async drain(graceMs?: number): Promise<void> {
    const abort = this.#abort;
    const timer = graceMs === undefined ? undefined : time.setTimeout(() => abort.abort(), graceMs);
    await Promise.all(this.#running.values());
    time.clearTimeout(timer);
    if (abort.signal.aborted) this.#abort = new AbortController();
  }

  async #round(loop: LeasedLoop): Promise<void> {
    const { schedules, recurring } = this.#options;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    const room = MAXIMUM_RUNNING - this.#running.size;
    await this.#begin(loop, room);
    if (this.#isFull) {
      await this.#recurMeanwhile(loop);
      if (!this.#hasRoom) await loop.wakeUp.wait(LONGEST_WAIT_MS);
      return;
    }
    const {
      newer,
      dueMs = LONGEST_WAIT_MS,
      hasRecurring,
    } = await schedules.upcoming([...this.#running.keys()]);
    const recursMs = await recurring.round(loop.lease.lease.holder, !hasRecurring);
    if (recursMs === 0) return;
    if (newer !== undefined) loop.finish({ kind: 'waiting', reason: this.#lacks(newer) });
    else await loop.wakeUp.wait(Math.min(dueMs, recursMs, LONGEST_WAIT_MS));
  }

  /** Under a backlog, runs of recurring actions are stored in time, although they wait for their turn. */
  async #recurMeanwhile({ lease }: LeasedLoop): Promise<void> {
    if (time.nowMs() < this.#recursAtMs) return;
    this.#recursAtMs = time.nowMs() + LONGEST_WAIT_MS;
    await this.#options.recurring.round(lease.lease.holder, false);
  }

  get #hasRoom(): boolean {
    return MAXIMUM_RUNNING - this.#running.size >= LEAST_ROOM;
  }

  /** Starts due actions, as far as there is room. */
  async #begin(loop: LeasedLoop, room: number): Promise<void> {
    const { schedules, recurring } = this.#options;
    const search = { running: [...this.#running.keys()], looksBehind: this.#looksBehind };
    if (room > 0) this.#looksBehind = false;
    const claimed = room === 0 ? [] : schedules.claim(loop.lease.lease, room, search);
    const due = await Promise.resolve(claimed).catch((error: unknown) => {
      // The database may have made a claim that it did not answer.
      this.#looksBehind = true;
      throw error;
    });
    const ends = due.map((action) =>
      this.#start(action).then(() => {
        if ((this.#isFull && this.#hasRoom) || recurring.isHeldUp) loop.wakeUp.notify();
      }),
    );
    const isLeftBehind = due[0]?.isLeftBehind === true;
    if (isLeftBehind) this.#looksBehind = true;
    this.#isFull = due.length === room || isLeftBehind;
    // It runs alone for a while: if the process dies of it, the attempt should not count against others.
    if (isLeftBehind) await atMost(Promise.all(ends), ALONE_MS);
  }

  /** Executes an action and stores the outcome. Never rejects. */
  #start(due: DueAction): Promise<void> {
    const ended = this.#execute(due)
      .catch((error: unknown) => {
        this.#failure = { error };
        this.#looksBehind = true;
      })
      .then(() => void this.#running.delete(due.id));
    this.#running.set(due.id, ended);
    return ended;
  }

  async #execute(due: DueAction): Promise<void> {
    const { schedules, warn } = this.#options;
    const { id, actionName, attempts } = due;
    const passed = this.#passed.get(id) ?? 0;
    const failed = await attemptScheduled(due, passed, { ...this.#options, signal: this.#abort.signal });
    const isPassing = failed?.verdict.kind === 'pass';
    if (isPassing) this.#passed.set(id, passed + 1);
    else this.#passed.delete(id);
    if (failed === undefined) return schedules.done(id);
    const failure = failureOf(failed.error, isPassing ? attempts : attempts + 1);
    const retryMs = 'pauseMs' in failed.verdict ? failed.verdict.pauseMs : undefined;
    if (retryMs === undefined) warn(`Scheduled action ${id} (${actionName}) is given up: ${failure.message}`);
    await schedules.failed(due, failure, retryMs);
  }

  #lacks({ actionName, paramsVersion }: NonNullable<UpcomingSchedules['newer']>): string {
    if (this.#options.registry.named(actionName) === undefined)
      return `this process does not know the scheduled action ${actionName}`;
    return `version ${paramsVersion} of the params of ${actionName} is newer than this process knows`;
  }
}
