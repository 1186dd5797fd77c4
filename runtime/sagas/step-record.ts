import { createHash } from 'node:crypto';
import type { ModelDescriptor } from '../domain/descriptor.js';
import { ShardedId } from '../domain/id.js';
import { Model } from '../domain/model.js';
import { INITIAL_VERSION, ModelBuilder } from '../domain/model-builder.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { storable } from './saga-run.js';
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
 * What became of a step, on the shard where its action writes and in the action's own transaction. There is room for one
 * record per step: whoever writes it first, the action or the one that gives it up, decides for good.
 */
export class StepRecord extends Model<StepRecord, ShardedId<StepRecord>, StepRecordState> {
  readonly saga!: string;
  readonly stepNumber!: number;
  readonly step!: string;
  readonly failureCode?: string;
  readonly failureMessage?: string;

  static done(id: ShardedId<StepRecord>, place: StepPlace, createdDate: Date): StepRecord {
    return new StepRecordBuilder().make({ ...place, id, state: 'DONE', createdDate });
  }

  static void(
    id: ShardedId<StepRecord>,
    place: StepPlace,
    failure: SagaFailure,
    createdDate: Date,
  ): StepRecord {
    const { code: failureCode, message } = failure;
    const failureMessage = storable(message);
    return new StepRecordBuilder().make({
      ...place,
      id,
      state: 'VOID',
      failureCode,
      failureMessage,
      createdDate,
    });
  }

  /** Why a void step was given up. */
  get failure(): SagaFailure | undefined {
    const { failureCode: code, failureMessage: message } = this;
    return code === undefined || message === undefined ? undefined : { code, message };
  }
}

/** The table `eventlog.saga_steps`. */
export const stepRecordModel: ModelDescriptor<StepRecord> = {
  name: 'StepRecord',
  kind: 'model',
  modelClass: () => StepRecord,
  table: 'eventlog.saga_steps',
  sharded: true,
  columns: [
    { field: 'id', column: 'id', type: { kind: 'id', model: 'StepRecord', sharded: true }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: ['DONE', 'VOID'] }, sqlType: 'text' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    { field: 'saga', column: 'saga_id', type: { kind: 'uuid' }, sqlType: 'uuid' },
    { field: 'stepNumber', column: 'step_number', type: { kind: 'number' }, sqlType: 'integer' },
    { field: 'step', column: 'step', type: { kind: 'string' }, sqlType: 'text' },
    {
      field: 'failureCode',
      column: 'failure_code',
      type: { kind: 'string' },
      sqlType: 'text',
      optional: true,
    },
    {
      field: 'failureMessage',
      column: 'failure_message',
      type: { kind: 'string' },
      sqlType: 'text',
      optional: true,
    },
    { field: 'createdDate', column: 'created_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
    { field: 'updatedDate', column: 'updated_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
  ],
};

/**
 * The one id that the record of a step can have on a shard: time and counter of the saga's own id, the shard's bits, and
 * a tail that follows from saga and step.
 */
export function stepRecordId({ saga, stepNumber }: StepPlace, shard: ShardIdentifier): ShardedId<StepRecord> {
  const tail = createHash('sha256').update(`${saga}/${stepNumber}`).digest('hex').slice(0, 12);
  const block = (VARIANT_BITS | shard.bits).toString(16);
  return ShardedId.named('StepRecord', `${saga.slice(0, 18)}-${block}-${tail}`);
}

/** The variant of RFC 9562 stands before the shard's 14 bits. */
const VARIANT_BITS = 0x8000;

class StepRecordBuilder extends ModelBuilder<StepRecord> {
  constructor() {
    super(stepRecordModel);
  }

  make(fields: { readonly [Field in keyof StepRecord]?: StepRecord[Field] | undefined }): StepRecord {
    this.put('version', INITIAL_VERSION);
    for (const [field, value] of Object.entries(fields)) this.put(field, value);
    return this.instantiate();
  }
}
