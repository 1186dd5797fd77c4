import type { StagedItem } from '../../action/action-plan.js';
import { NO_SLOT } from '../../collections/transient-set.js';
import { onAbort } from '../../concurrency/abort-listeners.js';
import type { Wait } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import { type ModelDescriptor, rowOf } from '../../domain/entity.js';
import type { Place } from '../../sharding/shard-database.js';
import type { Span } from '../../tracing.js';
import { PendingPlan } from './pending-plan.js';
import type { ActionRow, PlanWrite } from './plan-write.js';

/** A row that a plan touches. */
export interface TouchedRow {
  readonly row: string;
  readonly model: ModelDescriptor;
  readonly kind: 'add' | 'update' | 'expect';
  /** Version that the row must have; 0 for an insert. */
  readonly from: number;
  /** Version that the row has afterwards. */
  readonly to: number;
}

/** A statement that was passed to the database. It may still wait for a connection. */
export interface Sending extends Place {
  /** Whether one of its plans was removed before the statement was sent. */
  isTakenBack: boolean;
}

/** Limits and dependencies of a plan. */
export interface QueueOptions {
  /** Milliseconds from now until the outcome must be known. */
  readonly timeoutMs: number;
  /** Removes the plan from the queue. After it is sent, its true outcome is reported. */
  readonly signal?: AbortSignal | undefined;
  /** Pending plans whose staged state the plan has read. Default none. */
  readonly dependsOn?: readonly PendingPlan[];
  /** The span of the attempt, if there is one. */
  readonly span?: Span | undefined;
}

/** A plan in the queue, as its execution sees it. */
export interface Submission {
  /** Other plans may depend on it. The writer settles it, unless the outcome is a `LostWrite`. */
  readonly pending: PendingPlan;
  /**
   * @throws LostWrite if it was sent and its reply was lost: the execution settles it, and then its pending plan
   * @throws DriverFailure if the server returned an error, or if it was never sent
   */
  readonly outcome: Promise<WriteOutcome>;
}

const NO_DEPENDENCIES: readonly PendingPlan[] = Object.freeze([]);

/** A plan in a writer's queue. */
export class QueuedPlan implements Wait, Submission {
  readonly plan: PlanWrite;
  /** In staging order. */
  readonly touches: readonly TouchedRow[];
  readonly pending: PendingPlan = new PendingPlan();
  /** It is applied only together with these plans, or after them. */
  readonly dependsOn: readonly PendingPlan[];
  /** `time.nowMs()` by which the outcome must be known. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly queuedMs: number;
  readonly span: Span | undefined;
  slot: number = NO_SLOT;
  /** Whether its deadline passed in flight, so that its execution has failed. */
  expired = false;
  /** Whether a statement has left it out, because another transaction had locked one of its rows or changed it. */
  wasLeftOut = false;
  /** The action row that decides the outcome of the statement in flight, if there is one. */
  sentUnder: ActionRow | undefined = undefined;
  /** The statement in flight, if there is one. */
  sending: Sending | undefined = undefined;
  /** Its outcome. */
  readonly outcome: Promise<WriteOutcome>;
  readonly #overdue: (entry: QueuedPlan) => Error;
  /** Only the first call of `resolve`, `reject` and `expire` has an effect. */
  resolve: (outcome: WriteOutcome) => void = ignore;
  reject: (error: unknown) => void = ignore;

  /** @param overdue the error once the deadline has passed */
  constructor(
    plan: PlanWrite,
    { timeoutMs, signal, dependsOn = NO_DEPENDENCIES, span }: QueueOptions,
    overdue: (entry: QueuedPlan) => Error,
  ) {
    this.plan = plan;
    this.touches = plan.items.map(touchOf);
    this.dependsOn = dependsOn;
    this.queuedMs = time.nowMs();
    this.deadline = this.queuedMs + timeoutMs;
    this.signal = signal;
    this.span = span;
    this.#overdue = overdue;
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Must be called when the statement in flight has not applied it. It will be sent again. */
  notSent(): void {
    this.sentUnder = undefined;
    this.sending = undefined;
  }

  expire(): void {
    this.reject(this.#overdue(this));
  }
}

function ignore(): void {}

/** Calls back when the plan's signal is aborted, at once if it already is; not after the pending plan is settled. */
export function onAbortOf(entry: QueuedPlan, listener: (entry: QueuedPlan) => void): void {
  const { signal, pending } = entry;
  if (signal === undefined) return;
  if (signal.aborted) listener(entry);
  else pending.onSettled(onAbort(signal, () => listener(entry)));
}

/** The outcome of a plan, as its execution receives it. */
export type WriteOutcome =
  | {
      readonly kind: 'applied';
      /** Plans in the statement that applied it. */
      readonly batchSize: number;
      /** Plans that were folded into one with it, including itself. */
      readonly chainLength: number;
      /** Time in the queue, in milliseconds. */
      readonly queuedMs: number;
      /**
       * Whether it was left out once, because another transaction had locked one of its rows, and applied after a wait.
       */
      readonly contended: boolean;
    }
  /** A version no longer matched. */
  | { readonly kind: 'stale' }
  /** A pending plan that the plan depended on has failed; with fresh reads it may succeed. */
  | { readonly kind: 'dependency-failed' };

function touchOf(item: StagedItem): TouchedRow {
  const { kind, model, descriptor } = item;
  const from = item.kind === 'add' ? 0 : item.expectedVersion;
  return { row: rowOf(model), model: descriptor, kind, from, to: model.version };
}
