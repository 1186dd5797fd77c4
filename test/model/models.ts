import type { EventDescriptor, FieldType } from '../../runtime/domain/descriptor.js';
import type { ModelDescriptor } from '../../runtime/domain/entity.js';
import { Entity } from '../../runtime/domain/entity.js';
import type { Id, ModelClass, ShardedId } from '../../runtime/domain/id.js';
import { Model } from '../../runtime/domain/model.js';
import { INITIAL_VERSION, ModelBuilder } from '../../runtime/domain/model-builder.js';
import { ModelEvent } from '../../runtime/domain/model-event.js';
import type { Migration } from '../../runtime/migration/migration.js';

/** The fields of every model of the test besides id, state and version. */
export interface Content {
  readonly value: number;
  /** Identifies the run of `perform` that created this state; unique. */
  readonly writer: string;
  /** The value by which queries select. */
  readonly bucket: number;
  /** Unique among tallies and among badges, or null. */
  readonly label: string | null;
}

/** Chained and folded. */
export class Purse extends Model<Purse, ShardedId<Purse>, 'OPEN'> implements Content {
  readonly value!: number;
  readonly writer!: string;
  readonly bucket!: number;
  readonly label!: string | null;
}

/** Chained, but each state is written separately. */
export class Tally extends Model<Tally, ShardedId<Tally>, 'OPEN'> implements Content {
  readonly value!: number;
  readonly writer!: string;
  readonly bucket!: number;
  readonly label!: string | null;
}

/** Without dates, events and a sharded id: stored on the default shard. */
export class Badge extends Entity<Badge, Id<Badge>, 'OPEN'> implements Content {
  readonly value!: number;
  readonly writer!: string;
  readonly bucket!: number;
  readonly label!: string | null;
}

export type Stored = Purse | Tally | Badge;
export type Kind = 'Purse' | 'Tally' | 'Badge';
export const KINDS: readonly [Kind, ...Kind[]] = ['Purse', 'Tally', 'Badge'];

abstract class Changed<M> extends ModelEvent<M> {
  readonly writer: string;
  /** Index among the events of one change, from 0. */
  readonly index: number;
  /** The value after the change. */
  readonly value: number;

  protected constructor(
    id: string,
    modelClass: ModelClass<M>,
    change: Omit<Changed<M>, 'getModelId' | 'getModelName'>,
  ) {
    super(id, modelClass);
    this.writer = change.writer;
    this.index = change.index;
    this.value = change.value;
  }
}

export class PurseChanged extends Changed<Purse> {
  constructor(id: string, change: { writer: string; index: number; value: number }) {
    super(id, Purse, change);
  }
}

export class TallyChanged extends Changed<Tally> {
  constructor(id: string, change: { writer: string; index: number; value: number }) {
    super(id, Tally, change);
  }
}

const DATES: readonly (readonly [string, string, FieldType, string])[] = [
  ['createdDate', 'created_date', { kind: 'instant' }, 'timestamptz'],
  ['updatedDate', 'updated_date', { kind: 'instant' }, 'timestamptz'],
];

function describeModel<M extends Entity>(
  name: Kind,
  facts: Pick<ModelDescriptor<M>, 'kind' | 'modelClass' | 'table' | 'sharded' | 'folding'>,
): ModelDescriptor<M> {
  const columns: readonly (readonly [string, string, FieldType, string])[] = [
    ['id', 'id', { kind: 'id', model: name, sharded: facts.sharded }, 'uuid'],
    ['state', 'state', { kind: 'enum', values: ['OPEN'] }, 'text'],
    ['version', 'version', { kind: 'number' }, 'bigint'],
    ['value', 'value', { kind: 'number' }, 'double precision'],
    ['writer', 'writer', { kind: 'string' }, 'text'],
    ['bucket', 'bucket', { kind: 'number' }, 'double precision'],
    ['label', 'label', { kind: 'string' }, 'text'],
    ...(facts.kind === 'model' ? DATES : []),
  ];
  return {
    ...facts,
    name,
    columns: columns.map(([field, column, type, sqlType]) => ({
      ...{ field, column, type, sqlType },
      ...(field === 'label' ? { nullable: true } : {}),
    })),
  };
}

export const purseModel: ModelDescriptor<Purse> = describeModel('Purse', {
  kind: 'model',
  modelClass: () => Purse,
  table: 'purses',
  sharded: true,
});

export const tallyModel: ModelDescriptor<Tally> = describeModel('Tally', {
  kind: 'model',
  modelClass: () => Tally,
  table: 'tallies',
  sharded: true,
  folding: false,
});

export const badgeModel: ModelDescriptor<Badge> = describeModel('Badge', {
  kind: 'entity',
  modelClass: () => Badge,
  table: 'badges',
  sharded: false,
});

export const models: readonly ModelDescriptor[] = [
  purseModel,
  tallyModel,
  badgeModel,
] as unknown as ModelDescriptor[];

const CHANGED_FIELDS: EventDescriptor['fields'] = [
  { name: 'writer', type: { kind: 'string' } },
  { name: 'index', type: { kind: 'number' } },
  { name: 'value', type: { kind: 'number' } },
];

export const events: readonly EventDescriptor[] = [
  { name: 'PurseChanged', model: 'Purse', eventClass: () => PurseChanged, fields: CHANGED_FIELDS },
  { name: 'TallyChanged', model: 'Tally', eventClass: () => TallyChanged, fields: CHANGED_FIELDS },
] as unknown as EventDescriptor[];

const COLUMNS =
  'id uuid primary key, state text not null, version bigint not null, value double precision not null, ' +
  'writer text not null, bucket double precision not null, label text';
const DATE_COLUMNS = 'created_date timestamptz not null, updated_date timestamptz not null';

/** Only tallies and badges have unique labels, because a unique constraint would prevent folding. */
export const migrations: readonly Migration[] = [
  {
    name: '0001_models',
    up: `create table purses (${COLUMNS}, ${DATE_COLUMNS});
     create table tallies (${COLUMNS} unique, ${DATE_COLUMNS});
     create table badges (${COLUMNS} unique);`,
  },
];

/** Creates and changes models of all three classes. */
export class StoredBuilder<M extends Stored> extends ModelBuilder<M> {
  /** A new model with its events. */
  static create<M extends Stored>(
    descriptor: ModelDescriptor<M>,
    id: M['id'],
    content: Content,
    eventCount: number,
  ): M {
    const builder = new StoredBuilder(descriptor);
    builder.#set({
      id,
      state: 'OPEN',
      version: INITIAL_VERSION,
      createdDate: new Date(),
      updatedDate: new Date(),
    });
    return builder.#finish(id.getValue(), content, eventCount);
  }

  /** The next state of a model with its events. */
  static change<M extends Stored>(
    descriptor: ModelDescriptor<M>,
    model: M,
    content: Content,
    eventCount: number,
  ): M {
    return new StoredBuilder(descriptor).copyAll(model).#finish(model.id.getValue(), content, eventCount);
  }

  readonly #modelClass: unknown;

  private constructor(descriptor: ModelDescriptor<M>) {
    super(descriptor);
    this.#modelClass = descriptor.modelClass();
  }

  #set(values: object): void {
    for (const [field, value] of Object.entries(values)) this.put(field, value);
  }

  #finish(id: string, { value, writer, bucket, label }: Content, eventCount: number): M {
    this.#set({ value, writer, bucket, label });
    for (let index = 0; index < eventCount; index += 1) {
      if (this.#modelClass === Purse) this.#attach(new PurseChanged(id, { writer, index, value }));
      if (this.#modelClass === Tally) this.#attach(new TallyChanged(id, { writer, index, value }));
    }
    return this.instantiate();
  }

  #attach(event: ModelEvent<unknown>): void {
    this.withEvent(event as ModelEvent<M>);
  }
}
