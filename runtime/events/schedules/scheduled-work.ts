import type { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { backoffMs } from '../../concurrency/backoff.js';
import { time } from '../../concurrency/time.js';
import { shardOfUuid } from '../../domain/id.js';
import { compileObjectReader } from '../../domain/json-reader.js';
import { storedPrincipal } from '../../domain/principal.js';
import { UnknownActionError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { HandlerDied } from '../delivery/crash-suspects.js';
import { failureOf, isOutOfReach } from '../delivery/handler-attempts.js';
import type { DueAction, ScheduleStore } from './schedule-store.js';

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

/**
 * Executes the scheduled actions of one shard, each under its own idempotency key. An action that was started under a
 * lost lease continues: the next run of this process must not treat it as left behind.
 */
export class ScheduledWork<Store extends Pick<ScheduleStore, 'done' | 'failed'> = ScheduleStore> {
  readonly schedules: Store;
  readonly #options: ScheduledWorkOptions<Store>;
  /** Running actions by id. Their promises never reject. */
  readonly #running = new Map<string, Promise<void>>();
  /** Actions that this process has executed without storing the outcome. */
  readonly #unsettled = new Set<string>();
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

  /** Ids of actions that this process has executed without storing the outcome. */
  get unsettled(): readonly string[] {
    return [...this.#unsettled];
  }

  /** Executes an action and stores the outcome. Never rejects. */
  start(due: DueAction): Promise<void> {
    const outcome = this.#execute(due).then(
      () => void this.#unsettled.delete(due.id),
      (error: unknown) => {
        this.#unsettled.add(due.id);
        this.#failure = { error };
      },
    );
    const ended = outcome.then(() => void this.#running.delete(due.id));
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
      await executor.execute(principal, actionClass, params as never, configuration.build());
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
