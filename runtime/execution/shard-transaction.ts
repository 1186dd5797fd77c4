import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { StagedItem } from '../action/action-plan.js';
import type { ActionRegistry } from '../action/action-registry.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import type { FieldDescriptor } from '../domain/descriptor.js';
import { uuid7 } from '../domain/id-source.js';
import { compileObjectWriter } from '../domain/json-codec.js';
import { instantText } from '../domain/kinds/instant-kind.js';
import { markPersisted } from '../domain/model-event.js';
import { type KnownPrincipal, ownPrincipal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  CommitOutcomeUnknownError,
  IdempotencyKeyBusyError,
  StaleModelError,
  UniqueViolationError,
} from '../errors.js';
import type { AttemptOutcome } from '../persistence/attempt-outcome.js';
import type { ShardStore } from '../persistence/shard-store.js';
import { LostWrite } from '../persistence/write/flush-failure.js';
import { KEY_CONSTRAINT } from '../persistence/write/idempotency-key.js';
import type { PendingPlan } from '../persistence/write/pending-plan.js';
import type { ActionRow, PartWrite, PlanWrite, ScheduleRow } from '../persistence/write/plan-write.js';
import type { WriteOutcome } from '../persistence/write/queued-plan.js';
import { ANSWER_MS } from '../persistence/write/writer-limits.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import { DATABASE, during, type Span, startInner, traceParentOf } from '../tracing.js';
import type { PartResult } from './attempt.js';
import { checkedRows } from './contention/contention.js';
import type { KeyGuard } from './keys/key-guard.js';
import { keyTaken } from './keys/taken-key.js';
import { attemptPauseMs } from './retry-policy.js';
import type { PlanPart } from './routing.js';
import type { ShardGateway, ShardGateways } from './shard-gateways.js';

/** What is known of an attempt when its shard transactions are made. */
interface Facts extends Pick<ActionRow, 'startedDate' | 'completedDate' | 'params'> {
  readonly key: PlanWrite['key'];
}

interface Request {
  readonly action: Pick<ActionDescriptor, 'name' | 'version'>;
  readonly principal: KnownPrincipal;
  readonly configuration: ExecutionConfiguration;
  readonly registry: ActionRegistry;
  readonly span: Span | undefined;
}

/** Which fields of params are written. */
type Shown = (fields: readonly FieldDescriptor[]) => readonly FieldDescriptor[];

/**
 * One attempt's shard transaction, under its own action id.
 *
 * @param shown of the params of scheduled actions. Default: all
 * @throws UnknownActionError if a class of a scheduled action is not registered
 */
export function shardTransaction(
  { action, principal, configuration, registry, span }: Request,
  part: PlanPart,
  { key, startedDate, completedDate, params }: Facts,
  shown: Shown = (fields) => fields,
): PlanWrite {
  const id = uuid7.next(part.shard.bits);
  span?.setAttributes({ 'fw.action.id': id, 'fw.shard': part.shard.toString() });
  return {
    action: {
      id,
      name: action.name,
      principal: principal.name,
      claims: principal.claimsJson,
      startedDate,
      completedDate,
      params,
    },
    paramsVersion: action.version,
    items: part.items,
    traceContext: span === undefined ? configuration.traceContext : traceParentOf(span),
    key,
    schedules: part.schedules && scheduleRows(part, registry, shown),
    cancelledSchedules: part.cancelledSchedules,
  };
}

function scheduleRows(
  { shard, schedules = [] }: PlanPart,
  registry: ActionRegistry,
  shown: Shown,
): readonly ScheduleRow[] {
  return schedules.map((planned) => {
    const { dueDate, afterMs, actionClass, params, principal, settledId } = planned;
    const { name, params: fields, version = 1 } = registry.find(actionClass);
    return {
      id: settledId ?? uuid7.next(shard.bits),
      dueDate: instantText(dueDate),
      afterMs,
      actionName: name,
      params: compileObjectWriter(shown(fields))(params),
      paramsVersion: version,
      principal: principal === undefined ? undefined : ownPrincipal(`system:${principal}`).name,
      planned,
    };
  });
}

/** How one shard transaction is sent: its limits and dependencies. */
export interface SendOptions {
  readonly gateways: ShardGateways;
  readonly environment: ExecutionEnvironment;
  /** On the environment's monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Pending plans whose staged state the plan has read. */
  readonly dependsOn: readonly PendingPlan[];
  readonly guard: KeyGuard | undefined;
  readonly span: Span | undefined;
}

/** A shard transaction that was queued or sent. */
export interface SentPart {
  readonly pending: PendingPlan;
  readonly result: Promise<PartResult>;
}

/**
 * Queues a shard transaction, synchronously: no other plan is queued before the caller's next `await`. The promise
 * - throws public errors if nothing was applied and another attempt cannot succeed;
 * - throws CommitOutcomeUnknownError if an attempt without a reply could not be settled before the deadline.
 *
 * @throws ShardBusyError if the queue is full
 */
export function sendPart(part: PartWrite, options: SendOptions): SentPart {
  const { gateways, environment, deadline, signal, dependsOn, span } = options;
  const { shard, write } = part;
  const timeoutMs = Math.max(1, deadline - environment.nowMs());
  // Kept until the outcome is known: a reload may remove the shard meanwhile.
  const gateway = gateways.gateway(shard);
  const { pending, outcome } = gateway.writer.submit(write, { timeoutMs, signal, dependsOn, span });
  const result = outcome.then(
    (settled) => finished(settled, write),
    (error: unknown) => {
      if (error instanceof LostWrite) return settle(part, error, { ...options, pending, gateway });
      if (error instanceof DriverFailure) return afterAnswer(part, error, { ...options, gateway });
      throw error;
    },
  );
  return { pending, result };
}

/** A shard transaction that was sent by these means. */
interface Sent extends Pick<SendOptions, 'environment' | 'deadline' | 'guard' | 'span'> {
  readonly gateway: ShardGateway;
}

async function afterAnswer(
  { shard, write }: PartWrite,
  failure: DriverFailure,
  { guard, gateway }: Pick<Sent, 'guard' | 'gateway'>,
): Promise<PartResult> {
  const error = publicError(failure, shard);
  if (guard !== undefined && error instanceof UniqueViolationError && isAboutKeys(failure)) {
    return replayOrRetry(guard, shard);
  }
  const taken = error instanceof UniqueViolationError ? keyTaken(write.items, error) : undefined;
  if (taken !== undefined) return { kind: 'retry', end: 'key-taken', ...taken };
  const meaning = failure.sqlState === undefined ? 'other' : sqlStateMeaning(failure.sqlState);
  if (meaning === 'transient') return { kind: 'retry', end: 'locked', error };
  // If the deadline passed while another attempt waited for the lock, its outcome would be unknown.
  if (meaning === 'locked')
    return {
      kind: 'retry',
      end: 'locked',
      error,
      leastMs: gateway.limits.lockWaitMs + ANSWER_MS,
    };
  throw error;
}

/** Plans that depend on a plan of unknown outcome run again, which is correct for either outcome. */
async function settle(
  { shard, write }: PartWrite,
  lost: LostWrite,
  { pending, gateway: { store }, environment, deadline, span }: Sent & Pick<SentPart, 'pending'>,
): Promise<PartResult> {
  const fence = startInner(span, 'fence', { ...DATABASE, 'fw.shard': shard.toString() });
  const outcome = await during(fence, () => settleAttempt(store, lost.fence, environment, deadline));
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

function finished(outcome: WriteOutcome, write: PlanWrite): PartResult {
  if (outcome.kind === 'applied') {
    markEventsPersisted(write.items);
    return { kind: 'applied', write: outcome, contended: outcome.contended };
  }
  return { kind: 'retry', end: outcome.kind, error: staleError(write), rows: checkedRows(write.items) };
}

/**
 * Called when another execution has taken the key, so that nothing of this attempt was applied. The key existed a moment
 * ago; if its row is gone, that execution was rolled back or the key was purged.
 */
async function replayOrRetry(guard: KeyGuard, shard: ShardIdentifier): Promise<PartResult> {
  const replay = await guard.lookUp(shard);
  if (replay !== undefined) return { kind: 'replayed', replay };
  const error = new IdempotencyKeyBusyError('Another execution under this idempotency key is running');
  return { kind: 'retry', end: 'locked', error };
}

/** A table of the application, and thus its constraint, may have the same name. */
function isAboutKeys({ schema, constraint }: DriverFailure): boolean {
  return schema === 'eventlog' && constraint === KEY_CONSTRAINT;
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

/**
 * Settles an attempt whose reply was lost: fences it repeatedly until that succeeds or the deadline passes. A look-up
 * alone is not enough, because the server's process may still commit the attempt after it.
 *
 * @param deadline on the environment's monotonic clock
 */
export async function settleAttempt(
  store: Pick<ShardStore, 'fence'>,
  action: Omit<ActionRow, 'params'>,
  environment: ExecutionEnvironment,
  deadline: number,
): Promise<AttemptOutcome | 'unknown'> {
  for (let attempt = 1; ; attempt += 1) {
    const remainingMs = deadline - environment.nowMs();
    if (remainingMs <= 0) return 'unknown';
    try {
      return await store.fence(action, { timeoutMs: remainingMs });
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
    }
    const pauseMs = attemptPauseMs(attempt, environment.random());
    if (pauseMs >= deadline - environment.nowMs()) return 'unknown';
    await environment.sleep(pauseMs, undefined);
  }
}
