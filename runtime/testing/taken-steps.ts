import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { Model } from '../domain/model.js';
import type { Saga } from '../sagas/saga.js';
import { MOVE } from '../sagas/saga-actions.js';
import { type SagaFailure, stepOf } from '../sagas/saga-step.js';
import type { MemoryCommit } from './memory-store.js';
import type { SagaPerformed } from './saga-outcome.js';

/** Params of a step's attempt. */
interface StepParams {
  readonly step: string;
  readonly stepNumber: number;
  readonly params: object;
}

/** Params of a move, as stored. */
interface Outcome {
  readonly stepNumber: number;
  readonly failure?: SagaFailure;
}

/** Records the steps of one saga while it runs. */
export class TakenSteps {
  readonly #saga: Saga<Model>;
  /** By step number. */
  readonly #steps = new Map<number, SagaPerformed<Model>['steps'][number]>();

  constructor(saga: Saga<Model>) {
    this.#saga = saga;
  }

  get taken(): SagaPerformed<Model>['steps'] {
    return [...this.#steps.values()];
  }

  /** The failure of the last step that failed. */
  get lastFailure(): SagaFailure | undefined {
    return this.taken.findLast(({ failure }) => failure !== undefined)?.failure;
  }

  attempted({ name }: ActionDescriptor, given: unknown): void {
    const { step, stepNumber, params } = given as StepParams;
    if (name !== `${this.#saga.name}.${step}`) return;
    const known = this.#steps.get(stepNumber);
    const action = stepOf(this.#saga, step)?.action?.name ?? name;
    const attempts = (known?.attempts ?? 0) + 1;
    this.#steps.set(stepNumber, { ...(known ?? { state: step, action, params }), attempts });
  }

  /** A move carries the failure of a step. */
  committed({ plan: { action } }: MemoryCommit): void {
    if (action.name !== MOVE) return;
    const { stepNumber, failure } = JSON.parse(action.params ?? '{}') as Outcome;
    const known = this.#steps.get(stepNumber);
    if (known !== undefined && failure !== undefined) this.#steps.set(stepNumber, { ...known, failure });
  }
}
