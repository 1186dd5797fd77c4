import type { EventDescriptor } from '../domain/descriptor.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import { Model } from '../domain/model.js';
import { INITIAL_VERSION } from '../domain/model-builder.js';
import { ModelEvent } from '../domain/model-event.js';
import { failureFields, OwnBuilder, ownColumns } from './own-model.js';
import type { SagaFailure } from './saga-step.js';

/** `PARKED`: waits for an operator to retry or abandon it. */
export type SagaRunState = 'RUNNING' | 'PARKED' | 'ENDED';

/** Which step is being taken, and until when. */
export interface StepTerms {
  /** State of the saga's model. */
  readonly step: string;
  /** Undefined: the state is an end. */
  readonly deadline: Date | undefined;
}

/**
 * How far one saga has come: the runtime's own record beside the saga's state model, under the same id, so that all
 * sagas can be listed alike. Changed in the same plans.
 */
export class SagaRun extends Model<SagaRun, ShardedId<SagaRun>, SagaRunState> {
  /** Name of the saga when it was started. */
  readonly saga!: string;
  /** State of its model: the step that is being taken, or the end. */
  readonly step!: string;
  /** Number of the step, from 1: distinguishes repeated entries of one state. */
  readonly stepNumber!: number;
  readonly deadline?: Date;
  /** Why the last step failed: that led to a compensation, or had the saga parked. */
  readonly failureCode?: string;
  readonly failureMessage?: string;

  /**
   * The record of a saga that starts.
   *
   * @internal
   */
  static start(id: string, saga: string, createdDate: Date, terms: StepTerms): SagaRun {
    return newBuilder()
      .with({
        id: sagaRunId(id),
        state: 'RUNNING',
        version: INITIAL_VERSION,
        saga,
        stepNumber: 1,
        createdDate,
      })
      .with(terms)
      .build();
  }

  /**
   * On to the next state. @param failure of the step that was left, if it failed
   *
   * @internal
   */
  moved(terms: StepTerms, failure: SagaFailure | undefined): SagaRun {
    const state: SagaRunState = terms.deadline === undefined ? 'ENDED' : 'RUNNING';
    const builder = this.#copy().with({ ...terms, state, stepNumber: this.stepNumber + 1 });
    return (failure === undefined ? builder : builder.with(failureFields(failure))).build();
  }

  /** Waits for an operator. */
  parked(failure: SagaFailure): SagaRun {
    return this.#copy()
      .with({ state: 'PARKED', ...failureFields(failure) })
      .build();
  }

  /** Ends where it is: no further step is taken. The saga's handler gives up the one that may be under way. */
  abandoned(failure: SagaFailure): SagaRun {
    const event = new SagaWokenEvent(this, 'abandoned');
    return this.#copy()
      .with({ state: 'ENDED', deadline: undefined, ...failureFields(failure) })
      .withEvent(event)
      .build();
  }

  /**
   * Has the saga's handler look at it. @param deadline a new one, for another try
   *
   * @internal
   */
  woken(reason: WakeReason, deadline: Date | undefined): SagaRun {
    const event = new SagaWokenEvent(this, reason);
    return this.#copy().with({ state: 'RUNNING', deadline }).withEvent(event).build();
  }

  #copy(): OwnBuilder<SagaRun> {
    return newBuilder().from(this);
  }
}

/**
 * `overdue`: its step's time is over. `retry`: another try was asked for. `abandoned`: it is to take no further step.
 */
export type WakeReason = 'overdue' | 'retry' | 'abandoned';

/** Has the saga's handler look at a saga, although its state has not changed. */
export class SagaWokenEvent extends ModelEvent<SagaRun> {
  readonly saga: string;
  readonly stepNumber: number;
  readonly reason: WakeReason;

  constructor(run: SagaRun, reason: WakeReason) {
    super(run.id.getValue(), SagaRun);
    this.saga = run.saga;
    this.stepNumber = run.stepNumber;
    this.reason = reason;
  }
}

export const sagaWokenEvent: EventDescriptor = {
  name: 'SagaWokenEvent',
  model: 'SagaRun',
  eventClass: () => SagaWokenEvent,
  fields: [
    { name: 'saga', type: { kind: 'string' } },
    { name: 'stepNumber', type: { kind: 'number' } },
    { name: 'reason', type: { kind: 'enum', values: ['overdue', 'retry', 'abandoned'] } },
  ],
};

/** The id of a saga's record: that of its state model. */
function sagaRunId(id: string): ShardedId<SagaRun> {
  return ShardedId.named('SagaRun', id);
}

/** The table `eventlog.sagas`. */
export const sagaRunModel: ModelDescriptor<SagaRun> = {
  name: 'SagaRun',
  kind: 'model',
  modelClass: () => SagaRun,
  table: 'eventlog.sagas',
  sharded: true,
  columns: ownColumns(
    'SagaRun',
    ['RUNNING', 'PARKED', 'ENDED'],
    [
      { field: 'saga', column: 'saga', type: { kind: 'string' }, sqlType: 'text' },
      { field: 'step', column: 'step', type: { kind: 'string' }, sqlType: 'text' },
      { field: 'stepNumber', column: 'step_number', type: { kind: 'number' }, sqlType: 'integer' },
      {
        field: 'deadline',
        column: 'deadline',
        type: { kind: 'instant' },
        sqlType: 'timestamptz',
        optional: true,
      },
    ],
  ),
};

function newBuilder(): OwnBuilder<SagaRun> {
  return new OwnBuilder(sagaRunModel);
}
