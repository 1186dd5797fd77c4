import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import type { ShardedId } from '../domain/id.js';
import type { Model } from '../domain/model.js';

/** Why a step did not succeed. */
export interface SagaFailure {
  /** Code of the error that refused it, `TIMED_OUT`, or `UNKNOWN` for a foreign error. */
  readonly code: string;
  readonly message: string;
}

/**
 * What is done while the saga's state model is in one state: an action, on whatever shard, and the state that follows.
 * The functions are pure: they look at the model that they are given and at nothing else.
 *
 * @typeParam M the state model @typeParam Params what the action takes
 */
export interface SagaStepOptions<M extends Model, Params> {
  /** What the action is run with. */
  readonly params: (state: M) => Params;
  /** The next state, once the action is committed; it must be another one. */
  readonly done: (state: M) => M;
  /**
   * The next state, once it is certain that the action has not taken effect and never will: it was refused, or its time
   * is over. Leads to the compensation. Default: the step can only succeed, and a saga that it fails for good is
   * parked.
   */
  readonly refused?: (state: M, failure: SagaFailure) => M;
  /** Time for the step with all its attempts, in milliseconds, from when its state was entered. Default 60,000. */
  readonly timeoutMs?: number;
  /**
   * Attempts that may fail with an error that is neither a refusal nor one that passes (a shard that is down, a lost
   * race): most likely a defect. Default 5. What passes is tried again until the time is over.
   */
  readonly maximumAttempts?: number;
  /**
   * An id on the shard that the action writes to. Default: the first sharded id among the params, else the saga's own.
   */
  readonly on?: (state: M) => ShardedId<unknown>;
}

/** A step as a saga keeps it; `step` makes it. */
export interface SagaStep<M extends Model> extends SagaStepOptions<M, object> {
  readonly action: ActionClass<never, unknown>;
}

/** The steps of a saga by the state in which they are taken. A state without a step is an end. */
export type SagaSteps<M extends Model> = { readonly [State in M['state']]?: SagaStep<M> };

/** One step: an action, what it is run with and what follows. */
export function step<M extends Model, Params extends object>(
  action: ActionClass<Params, unknown>,
  options: SagaStepOptions<M, ActionInput<NoInfer<Params>>>,
): SagaStep<M> {
  // The signature guarantees that the options fit the action; they stay together afterwards.
  return { ...options, action: action as unknown as ActionClass<never, unknown> };
}

/** A saga as staging sees it. */
export interface NamedSteps<M extends Model> {
  readonly name: string;
  readonly steps: SagaSteps<M>;
}

/** The step of a state; undefined for an end. */
export function stepOf<M extends Model>({ steps }: NamedSteps<M>, state: string): SagaStep<M> | undefined {
  const known: Readonly<Record<string, SagaStep<M> | undefined>> = steps;
  return Object.hasOwn(known, state) ? known[state] : undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** When the time of a step is over that begins now. */
export function deadlineOf<M extends Model>(step: SagaStep<M>, now: Date): Date {
  return new Date(now.getTime() + (step.timeoutMs ?? DEFAULT_TIMEOUT_MS));
}
