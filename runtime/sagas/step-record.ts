import { hash } from 'node:crypto';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import { Model } from '../domain/model.js';
import { INITIAL_VERSION } from '../domain/model-builder.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { column, failureFields, OwnBuilder, ownColumns, readFailure } from './own-model.js';
import type { SagaFailure } from './saga-step.js';

/** `DONE`: committed with the step's action. `VOID`: the action has not been applied, and never will be. */
export type StepRecordState = 'DONE' | 'VOID';

/** One step of one saga. */
export interface StepPlace {
  /** Id of the saga. */
  readonly saga: string;
  readonly stepNumber: number;
  /** State of the saga's model. */
  readonly step: string;
}

/**
 * The outcome of a step, on the shard where its action writes and in the action's own transaction. There is one
 * record per step: the first writer decides, which is either the action or the process that abandons it.
 */
export class StepRecord extends Model<StepRecord, ShardedId<StepRecord>, StepRecordState> {
  readonly saga!: string;
  readonly stepNumber!: number;
  readonly step!: string;
  readonly failureCode?: string;
  readonly failureMessage?: string;

  /** @param failure why the step is void; undefined: it is done */
  static of(
    id: ShardedId<StepRecord>,
    place: StepPlace,
    createdDate: Date,
    failure?: SagaFailure,
  ): StepRecord {
    const state: StepRecordState = failure === undefined ? 'DONE' : 'VOID';
    return new OwnBuilder(stepRecordModel)
      .with({ ...place, id, state, version: INITIAL_VERSION, createdDate })
      .with(failure === undefined ? {} : failureFields(failure))
      .build();
  }

  /** The failure of a void step. */
  get failure(): SagaFailure | undefined {
    return readFailure(this);
  }
}

/** The table `eventlog.saga_steps`. */
export const stepRecordModel: ModelDescriptor<StepRecord> = {
  name: 'StepRecord',
  kind: 'model',
  modelClass: () => StepRecord,
  table: 'eventlog.saga_steps',
  sharded: true,
  columns: ownColumns(
    'StepRecord',
    ['DONE', 'VOID'],
    [
      { field: 'saga', column: 'saga_id', type: { kind: 'uuid' }, sqlType: 'uuid' },
      column('stepNumber', 'step_number', 'number', 'integer'),
      column('step', 'step', 'string', 'text'),
    ],
  ),
};

/**
 * The only possible id of a step's record on a shard: time and counter of the saga's id, the shard's bits, and a tail
 * derived from saga and step.
 */
export function stepRecordId({ saga, stepNumber }: StepPlace, shard: ShardIdentifier): ShardedId<StepRecord> {
  const tail = hash('sha256', `${saga}/${stepNumber}`).slice(0, 12);
  const block = (VARIANT_BITS | shard.bits).toString(16);
  return ShardedId.named('StepRecord', `${saga.slice(0, 18)}-${block}-${tail}`);
}

/** The variant bits of RFC 9562 precede the shard's 14 bits. */
const VARIANT_BITS = 0x8000;
