import type { Model } from '../domain/model.js';
import type { SagaFailure } from '../sagas/saga-step.js';
import type { Performed } from './performed.js';
import { assertFields, assertShowsSame, show } from './show.js';
import { type FieldsOf, SpecOutcome } from './spec-outcome.js';

/** A step that was taken. */
interface TakenStep {
  /** State in which it was taken. */
  readonly state: string;
  /** Name of the action's class. */
  readonly action: string;
  readonly params: object;
  readonly attempts: number;
  /** The failure of the step; undefined if it succeeded. */
  readonly failure?: SagaFailure;
}

/** An expected step: its state, or the fields to compare. */
type ExpectedStep<State extends string> =
  | State
  | {
      readonly state: State;
      readonly action?: { readonly name: string };
      readonly params?: object;
      readonly attempts?: number;
      /** Explicit `undefined`: the step succeeds. */
      readonly failure?: Partial<SagaFailure> | undefined;
    };

/** A finished run of a saga; the result is its model as stored last. */
export interface SagaPerformed<M extends Model> extends Performed<M> {
  /** `ended`, or the reason why the saga is stuck, as in `fw-gen sagas list`. */
  readonly ending: 'ended' | 'parked' | 'overdue';
  /** The failure that made it stuck. */
  readonly failure: SagaFailure | undefined;
  readonly steps: readonly TakenStep[];
  /** Time at which it ended or got stuck, on the clock of the run. */
  readonly endedAt: Date;
  /** Names and principals of all actions that took effect, including the runtime's own, in order. */
  readonly actions: readonly { readonly name: string; readonly principal: string }[];
}

/**
 * The outcome of a saga, with its checks; see `SpecOutcome`. Staged models, events and schedules are those of all
 * its actions from the start on, without the runtime's own.
 */
export class SagaOutcome<M extends Model> extends SpecOutcome<M, SagaPerformed<M>> {
  readonly [Symbol.toStringTag]: string = 'SagaOutcome';

  /** The saga takes exactly these steps, in this order. Waits are not steps, whether a signal or their time ends them. */
  thenSteps(...expected: readonly ExpectedStep<M['state']>[]): this {
    return this.check(({ steps }) => {
      const wanted = expected.map((each) => (typeof each === 'string' ? { state: each } : each));
      const found = steps.map((taken, index) => sameKeys(taken, wanted[index] ?? { state: '' }));
      assertShowsSame(show(found), show(wanted.map(shownStep)), 'Expected the saga to take other steps');
    });
  }

  /** The saga ends in this state, and its model has these fields. */
  thenEnds(state: M['state'], fields: FieldsOf<M> = {}): this {
    return this.check(({ result, ending, failure }) => {
      assertEnd({ ending, state: result.state, failure }, `ended in ${state}`);
      assertFields(result, fields, 'Expected the saga to end with other fields');
    });
  }

  /**
   * The saga gets stuck in this state: parked, because a step without `refused` was refused or looks defective; or
   * overdue, because such a step is still being retried when its time is over.
   */
  thenStuck(ending: 'parked' | 'overdue', state: M['state'], failure: Partial<SagaFailure> = {}): this {
    return this.check(({ result, ending: actual, failure: reason }) => {
      assertEnd({ ending: actual, state: result.state, failure: reason }, `${ending} in ${state}`);
      assertFields(reason ?? {}, failure, 'Expected the saga to be stuck for another reason');
    });
  }
}

function assertEnd(
  { ending, state, failure }: Pick<SagaPerformed<Model>, 'ending' | 'failure'> & { readonly state: string },
  wanted: string,
): void {
  const found = `${ending} in ${state}`;
  if (found === wanted) return;
  const reason = failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;
  assertShowsSame(`${found}${reason}`, wanted, 'Expected the saga to end elsewhere');
}

/** The fields of a step that an expectation names. */
function sameKeys(taken: TakenStep, { state, ...wanted }: Exclude<ExpectedStep<string>, string>): object {
  const { failure } = taken;
  return {
    state: taken.state,
    ...('action' in wanted ? { action: taken.action } : {}),
    ...('params' in wanted ? { params: taken.params } : {}),
    ...('attempts' in wanted ? { attempts: taken.attempts } : {}),
    ...('failure' in wanted ? { failure: failureLike(failure, wanted.failure) } : {}),
  };
}

function failureLike(failure: SagaFailure | undefined, wanted: Partial<SagaFailure> | undefined): unknown {
  if (failure === undefined || wanted === undefined) return failure;
  const { code, message } = failure;
  return {
    ...('code' in wanted ? { code } : {}),
    ...('message' in wanted ? { message } : {}),
  };
}

function shownStep(step: Exclude<ExpectedStep<string>, string>): object {
  return step.action === undefined ? step : { ...step, action: step.action.name };
}
