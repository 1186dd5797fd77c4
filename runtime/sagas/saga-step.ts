import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import type { ShardedId } from '../domain/id.js';
import type { Model } from '../domain/model.js';
import type { ModelEvent } from '../domain/model-event.js';

/** Why a step did not succeed. */
export interface SagaFailure {
  /** Code of the error that refused it, `TIMED_OUT`, or `UNKNOWN` for a foreign error. */
  readonly code: string;
  readonly message: string;
}

/**
 * The step of one state of the saga's model: an action, on any shard, and the state that follows. The functions are
 * pure: they read only the model that they receive.
 *
 * @typeParam M the state model
 * @typeParam Params the params of the action
 */
export interface SagaStepOptions<M extends Model, Params> {
  /** Returns the params of the action. */
  readonly params: (state: M) => Params;
  /** Returns the next state after the action is committed; it must differ from the current one. */
  readonly done: (state: M) => M;
  /**
   * Returns the next state after the action has failed for good: it was refused, or its time is over, and it has not
   * taken effect and never will. Leads to the compensation. Default: the step can only succeed, and a saga whose step
   * fails for good is parked.
   */
  readonly refused?: (state: M, failure: SagaFailure) => M;
  /**
   * Time limit of the step with all its attempts, in milliseconds from when its state was stored, by the clock of the
   * saga's database. At least one attempt is made. Default 60,000.
   */
  readonly timeoutMs?: number;
  /**
   * Maximum attempts that fail with an apparent defect: neither a refusal nor a passing error (an unreachable shard, a
   * conflict). Default 5. Passing errors are retried until the time is over.
   */
  readonly maximumAttempts?: number;
  /**
   * Returns an id on the shard that the action writes to. Default: the first sharded id among the params, else the
   * saga's own id.
   */
  readonly on?: (state: M) => ShardedId<unknown>;
}

/** A step in a saga's `steps`; created by `step`. */
export interface SagaStep<M extends Model> extends SagaStepOptions<M, object> {
  readonly action: ActionClass<never, unknown>;
}

/**
 * A state in which a saga waits until an action of the application changes the state of its model, or until a time,
 * whichever comes first.
 *
 * @typeParam M the state model
 */
export interface SagaWaitOptions<M extends Model> {
  /** The events of the changes that end the wait. The next step runs as the principal of the event's action. */
  readonly for: readonly EventClass<M>[];
  /**
   * The end of the wait, by the clock of the saga's database: milliseconds from when its state was stored, or a date that
   * its state knows.
   */
  readonly until: number | ((state: M) => Date);
  /** Returns the next state if no action has changed it in time; it must differ from the current one. */
  readonly expired: (state: M, failure: SagaFailure) => M;
}

/** An event class of a model as a value. */
type EventClass<M> = new (...parts: never) => ModelEvent<M>;

/** A wait in a saga's `steps`; created by `wait`. */
export interface SagaWait<M extends Model> extends SagaWaitOptions<M> {
  readonly action: undefined;
}

/** The steps of a saga by state. A state without a step is an end. */
export type SagaSteps<M extends Model> = { readonly [State in M['state']]?: SagaStep<M> | SagaWait<M> };

/** Creates a step: an action, its params and the state that follows. */
export function step<M extends Model, Params extends object>(
  action: ActionClass<Params, unknown>,
  options: SagaStepOptions<M, ActionInput<NoInfer<Params>>>,
): SagaStep<M> {
  // The signature guarantees that the options fit the action; they stay together afterwards.
  return { ...options, action: action as unknown as ActionClass<never, unknown> };
}

/**
 * Creates a wait. An ordinary action ends it: it stages the model in another state, with one of the events.
 *
 *     REQUESTED: wait({ for: [LoanApproved, LoanRejected], until: 7 * 86_400_000, expired: (loan) => loan.withdraw() })
 */
export function wait<M extends Model>(options: SagaWaitOptions<M>): SagaWait<M> {
  return { ...options, action: undefined };
}

/** The name and steps of a saga. */
export interface NamedSteps<M extends Model> {
  readonly name: string;
  readonly steps: SagaSteps<M>;
}

/** A step that runs an action, or a wait. */
export type AnyStep<M extends Model> = SagaStep<M> | SagaWait<M>;

/** The step of a state; undefined for an end. */
export function stepOf<M extends Model>({ steps }: NamedSteps<M>, state: string): AnyStep<M> | undefined {
  const known: Readonly<Record<string, AnyStep<M> | undefined>> = steps;
  return Object.hasOwn(known, state) ? known[state] : undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** The end of a step that starts: its time limit in whole milliseconds, or a date. */
export function limitOf<M extends Model>(step: AnyStep<M>, state: M): number | Date {
  if (step.action !== undefined) return Math.round(step.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const { until } = step;
  return typeof until === 'number' ? Math.round(until) : until(state);
}
