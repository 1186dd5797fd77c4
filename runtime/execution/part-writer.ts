import type { StagedItem } from '../action/action-plan.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import { markPersisted } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  CommitOutcomeUnknownError,
  IdempotencyKeyBusyError,
  StaleModelError,
  UniqueViolationError,
} from '../errors.js';
import { LostWrite } from '../persistence/write/flush-failure.js';
import { KEY_CONSTRAINT } from '../persistence/write/idempotency-key.js';
import type { PendingPlan } from '../persistence/write/pending-plan.js';
import type { PlanWrite } from '../persistence/write/plan-write.js';
import type { Submission, WriteOutcome } from '../persistence/write/queued-plan.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import { DATABASE, during, type Span, startInner } from '../tracing.js';
import { checkedRows } from './contention/contention.js';
import type { KeyGuard } from './keys/key-guard.js';
import { keyTaken } from './keys/taken-key.js';
import type { PartResult, Replay } from './part-result.js';
import { settleAttempt } from './settle-attempt.js';
import type { ShardGateways } from './shard-gateways.js';

/** Limits and dependencies of one shard transaction. */
export interface PartOptions {
  /** On the environment's monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Pending plans whose staged state the plan has read. */
  readonly dependsOn?: readonly PendingPlan[];
  readonly guard?: KeyGuard | undefined;
  readonly span?: Span | undefined;
}

/** A shard transaction that was queued or sent. */
export interface SentPart {
  readonly pending: PendingPlan;
  readonly result: Promise<PartResult>;
}

/** Sends one shard transaction and determines its outcome. */
export class PartWriter {
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;

  constructor(gateways: ShardGateways, environment: ExecutionEnvironment) {
    this.#gateways = gateways;
    this.#environment = environment;
  }

  /**
   * Queues a shard transaction, synchronously: no other plan is queued before the caller's next `await`. The promise
   * - throws public errors if nothing was applied and another attempt cannot succeed;
   * - throws CommitOutcomeUnknownError if an attempt without a reply could not be settled before the deadline.
   *
   * @throws ShardBusyError if the queue is full
   */
  send(shard: ShardIdentifier, write: PlanWrite, options: PartOptions): SentPart {
    const { signal, dependsOn = [], span } = options;
    const timeoutMs = Math.max(1, options.deadline - this.#environment.nowMs());
    const { writer } = this.#gateways.gateway(shard);
    const submission = writer.submit(write, { timeoutMs, signal, dependsOn, span });
    const { pending, outcome } = submission;
    const result = outcome.then(
      (settled) => finished(settled, write),
      (error: unknown) => this.#failed(shard, write, submission, options, error),
    );
    return { pending, result };
  }

  #failed(
    shard: ShardIdentifier,
    write: PlanWrite,
    { pending }: Submission,
    options: PartOptions,
    error: unknown,
  ): Promise<PartResult> {
    if (error instanceof LostWrite) return this.#settle(shard, write, error, pending, options);
    if (error instanceof DriverFailure) return this.#afterAnswer(shard, write, error, options);
    throw error;
  }

  async #afterAnswer(
    shard: ShardIdentifier,
    { items }: PlanWrite,
    failure: DriverFailure,
    { guard }: PartOptions,
  ): Promise<PartResult> {
    const error = publicError(failure, shard);
    if (guard !== undefined && error instanceof UniqueViolationError && isAboutKeys(failure)) {
      return replay(guard, shard);
    }
    const taken = error instanceof UniqueViolationError ? keyTaken(items, error) : undefined;
    if (taken !== undefined) return { kind: 'retry', end: 'key-taken', ...taken };
    if (isRetried(failure)) return { kind: 'retry', end: 'locked', error };
    throw error;
  }

  /** Plans that depend on a plan of unknown outcome run again, which is correct for either outcome. */
  async #settle(
    shard: ShardIdentifier,
    write: PlanWrite,
    lost: LostWrite,
    pending: PendingPlan,
    { deadline, span }: PartOptions,
  ): Promise<PartResult> {
    const { store } = this.#gateways.gateway(shard);
    const outcome = await during(
      startInner(span, 'fence', { ...DATABASE, 'fw.shard': shard.toString() }),
      () => settleAttempt(store, lost.fence, this.#environment, deadline),
    );
    pending.settle(outcome === 'committed');
    switch (outcome) {
      case 'committed':
        markEventsPersisted(write.items);
        return { kind: 'applied', write: undefined };
      case 'void':
        return { kind: 'retry', end: 'lost', error: publicError(lost.cause, shard) };
      case 'unknown':
        throw new CommitOutcomeUnknownError(write.action.id, { cause: lost.cause });
    }
  }
}

function finished(outcome: WriteOutcome, write: PlanWrite): PartResult {
  switch (outcome.kind) {
    case 'applied':
      markEventsPersisted(write.items);
      return { kind: 'applied', write: outcome, contended: outcome.contended };
    case 'stale':
      return { kind: 'retry', end: 'stale', error: staleError(write), rows: checkedRows(write.items) };
    case 'dependency-failed':
      return {
        kind: 'retry',
        end: 'dependency-failed',
        error: staleError(write),
        rows: checkedRows(write.items),
      };
  }
}

/** Called when another execution has taken the key. Nothing of this attempt was applied, even if the look-up fails. */
async function replay(guard: KeyGuard, shard: ShardIdentifier): Promise<PartResult> {
  try {
    return replayOrRetry(await guard.replayAt(shard));
  } catch (error) {
    if (!(error instanceof DriverFailure)) throw error;
    if (error.phase === 'in-flight') return { kind: 'retry', end: 'lost', error: publicError(error, shard) };
    throw publicError(error, shard);
  }
}

/** The key existed a moment ago; if its row is gone, that execution was rolled back or the key was purged. */
function replayOrRetry(replay: Replay | undefined): PartResult {
  if (replay !== undefined) return { kind: 'replayed', replay };
  const error = new IdempotencyKeyBusyError('Another execution under this idempotency key is running');
  return { kind: 'retry', end: 'locked', error };
}

/** A table of the application, and thus its constraint, may have the same name. */
function isAboutKeys({ schema, constraint }: DriverFailure): boolean {
  return schema === 'eventlog' && constraint === KEY_CONSTRAINT;
}

/** Conflicts and locks: another attempt with fresh reads may succeed. */
function isRetried({ sqlState }: DriverFailure): boolean {
  if (sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'transient' || meaning === 'locked';
}

function staleError({ action, items }: PlanWrite): StaleModelError {
  const checked = items.filter(({ kind }) => kind !== 'add');
  const models = checked.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
  return new StaleModelError(action.name, models.join(', '));
}

function markEventsPersisted(items: readonly StagedItem[]): void {
  for (const item of items) {
    if (item.kind === 'expect') continue;
    for (const event of item.events) markPersisted(event);
  }
}
