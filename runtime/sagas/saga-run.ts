import type { EventDescriptor } from '../domain/descriptor.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import { Model } from '../domain/model.js';
import { INITIAL_VERSION } from '../domain/model-builder.js';
import { ModelEvent } from '../domain/model-event.js';
import { nameClass } from '../domain/stored-names.js';
import { column, failureFields, OwnBuilder, optional, ownColumns } from './own-model.js';
import type { SagaFailure } from './saga-step.js';

/** `PARKED`: waits for an operator to retry or abandon it. */
export type SagaRunState = 'RUNNING' | 'PARKED' | 'ENDED';

/** The current step and its time limit. */
export interface StepTerms {
  /** State of the saga's model. */
  readonly step: string;
  /** See `SagaRun.timeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** See `SagaRun.deadline`. Undefined: the state is an end. */
  readonly deadline?: Date | undefined;
}

/** The terms of a step that starts now. @param limit in milliseconds, or a date; undefined: the state is an end */
export function termsOf(step: string, limit: number | Date | undefined, now: Date): StepTerms {
  if (typeof limit !== 'number') return { step, timeoutMs: undefined, deadline: limit };
  return { step, timeoutMs: limit, deadline: new Date(now.getTime() + limit) };
}

/**
 * The progress of one saga: the runtime's own record, with the id of the saga's state model, so that all sagas can be
 * listed in the same way. Each plan that changes the state model also changes this record.
 */
export class SagaRun extends Model<SagaRun, ShardedId<SagaRun>, SagaRunState> {
  /** Name of the saga when it was started. */
  readonly saga!: string;
  /** State of its model: the current step, or the end. */
  readonly step!: string;
  /** Number of the step, from 1: distinguishes repeated entries of one state. */
  readonly stepNumber!: number;
  /** Time limit of the step; undefined: the state is an end, or waits until a date. */
  readonly timeoutMs?: number;
  /**
   * When the step's time is over; undefined: the state is an end. If the step has a time limit, it is an estimate by this
   * process's clock until it is stored: the database adds the time limit of new terms to its own time.
   */
  readonly deadline?: Date;
  /** Code of the last step's failure, which led to a compensation or parked the saga. */
  readonly failureCode?: string;
  readonly failureMessage?: string;

  /**
   * The record of a saga at its start. @param id that of its state model, which the record shares
   *
   * @internal
   */
  static start(id: string, saga: string, createdDate: Date, terms: StepTerms): SagaRun {
    const begin = { id: ShardedId.named<SagaRun>('SagaRun', id), version: INITIAL_VERSION, createdDate };
    return new OwnBuilder(sagaRunModel)
      .with({ ...begin, ...terms, state: 'RUNNING', saga, stepNumber: 1 })
      .build();
  }

  /**
   * The record in the next state. @param failure of the previous step, if it failed
   *
   * @internal
   */
  moved(terms: StepTerms, failure: SagaFailure | undefined): SagaRun {
    const state: SagaRunState = terms.deadline === undefined ? 'ENDED' : 'RUNNING';
    const builder = this.#copy().with({ ...terms, state, stepNumber: this.stepNumber + 1 });
    return (failure === undefined ? builder : builder.with(failureFields(failure))).build();
  }

  /** The record of a saga that waits for an operator. */
  parked(failure: SagaFailure): SagaRun {
    return this.#copy()
      .with({ state: 'PARKED', ...failureFields(failure) })
      .build();
  }

  /** Ends in its current state: no further step is taken. The saga's handler abandons a step in progress. */
  abandoned(failure: SagaFailure): SagaRun {
    const event = new SagaWokenEvent(this, 'abandoned');
    return this.#copy()
      .with({ state: 'ENDED', timeoutMs: undefined, deadline: undefined, ...failureFields(failure) })
      .withEvent(event)
      .build();
  }

  /**
   * Notifies the saga's handler. @param reason undefined: no notification @param terms new ones, for a retry
   *
   * @internal
   */
  woken(reason: WakeReason | undefined, { timeoutMs, deadline }: StepTerms): SagaRun {
    const builder = this.#copy().with({ state: 'RUNNING', timeoutMs, deadline });
    return (reason === undefined ? builder : builder.withEvent(new SagaWokenEvent(this, reason))).build();
  }

  #copy(): OwnBuilder<SagaRun> {
    return new OwnBuilder(sagaRunModel).from(this);
  }
}

/**
 * `overdue`: the step's time is over. `retry`: a retry was requested. `abandoned`: the saga must take no further step.
 */
export type WakeReason = 'overdue' | 'retry' | 'abandoned';

/** Notifies a saga's handler although the saga's state has not changed. */
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
      column('saga', 'saga', 'string', 'text'),
      column('step', 'step', 'string', 'text'),
      column('stepNumber', 'step_number', 'number', 'integer'),
      optional(column('timeoutMs', 'timeout_ms', 'number', 'bigint')),
      optional(column('deadline', 'deadline', 'instant', 'timestamptz')),
    ],
  ),
};

nameClass(SagaRun, sagaRunModel.name);
