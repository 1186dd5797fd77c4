import type { StagedItem } from '../action/action-plan.js';
import type { AttemptEnd } from '../action/execution-report.js';
import { markPersisted } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { CommitOutcomeUnknownError, IdempotencyKeyBusyError, StaleModelError, UniqueViolationError } from '../errors.js';
import { KEY_CONSTRAINT } from '../persistence/idempotency-key.js';
import type { PlanWrite } from '../persistence/plan-write.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import type { ExecutionEnvironment } from './execution-environment.js';
import type { KeyGuard, Replay } from './key-guard.js';
import { settleAttempt } from './settle-attempt.js';
import type { ShardGateways } from './shard-gateways.js';

/** Nothing of the attempt was or ever will be applied; it may be run again with fresh reads. */
export interface Retry {
  readonly kind: 'retry';
  readonly end: AttemptEnd;
  /** What is thrown if there is no further attempt. */
  readonly error: Error;
}

/** What became of one leg: applied, or not at all. */
export type LegResult = { readonly kind: 'applied' } | { readonly kind: 'replayed'; readonly replay: Replay } | Retry;

/** Limits of one leg. */
export interface LegLimits {
  /** On the environment's monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

const APPLIED = { kind: 'applied' } as const;

/** Sends one leg and finds out the truth about it. */
export class LegWriter {
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;

  constructor(gateways: ShardGateways, environment: ExecutionEnvironment) {
    this.#gateways = gateways;
    this.#environment = environment;
  }

  /**
   * Sends a leg.
   *
   * @throws public errors if nothing was applied and another attempt cannot help
   * @throws CommitOutcomeUnknownError if a lost attempt could not be settled before the deadline
   */
  async write(shard: ShardIdentifier, write: PlanWrite, limits: LegLimits, guard?: KeyGuard): Promise<LegResult> {
    const { writer } = this.#gateways.gateway(shard);
    const timeoutMs = Math.max(1, limits.deadline - this.#environment.nowMs());
    let result: LegResult = APPLIED;
    try {
      const outcome = await writer.submit(write, { timeoutMs, signal: limits.signal });
      if (outcome === 'stale') return { kind: 'retry', end: 'stale', error: staleError(write) };
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      result = await this.#afterFailure(shard, write, error, limits, guard);
    }
    if (result.kind === 'applied') markEventsPersisted(write.items);
    return result;
  }

  async #afterFailure(
    shard: ShardIdentifier,
    write: PlanWrite,
    failure: DriverFailure,
    limits: LegLimits,
    guard: KeyGuard | undefined,
  ): Promise<LegResult> {
    if (failure.phase === 'in-flight') return this.#settle(shard, write, failure, limits);
    const error = publicError(failure, shard);
    if (guard !== undefined && error instanceof UniqueViolationError && error.constraint?.endsWith(KEY_CONSTRAINT)) {
      return replayOrRetry(await guard.replayAt(shard));
    }
    if (isRetried(failure)) return { kind: 'retry', end: 'locked', error };
    throw error;
  }

  async #settle(
    shard: ShardIdentifier,
    write: PlanWrite,
    failure: DriverFailure,
    { deadline }: LegLimits,
  ): Promise<LegResult> {
    const { store } = this.#gateways.gateway(shard);
    const outcome = await settleAttempt(store, write.action, this.#environment, deadline);
    switch (outcome) {
      case 'committed':
        return APPLIED;
      case 'void':
        return { kind: 'retry', end: 'lost', error: publicError(failure, shard) };
      case 'unknown':
        throw new CommitOutcomeUnknownError(write.action.id, { cause: failure });
    }
  }
}

/** The key was taken a moment ago; if its row is gone again, that one has been rolled back or purged. */
function replayOrRetry(replay: Replay | undefined): LegResult {
  if (replay !== undefined) return { kind: 'replayed', replay };
  const error = new IdempotencyKeyBusyError('Another execution under this idempotency key is running');
  return { kind: 'retry', end: 'locked', error };
}

/** Lost races and locks: another attempt with fresh reads may do. */
function isRetried({ sqlState }: DriverFailure): boolean {
  if (sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'transient' || meaning === 'locked';
}

function staleError({ action, items }: PlanWrite): StaleModelError {
  const guarded = items.filter(({ kind }) => kind !== 'add');
  const models = guarded.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
  return new StaleModelError(action.name, models.join(', '));
}

function markEventsPersisted(items: readonly StagedItem[]): void {
  for (const item of items) {
    if (item.kind === 'expect') continue;
    for (const event of item.events) markPersisted(event);
  }
}
