import { memoize } from '../../collections/memoize.js';
import type { ColumnDescriptor } from '../../domain/descriptor.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import {
  assign,
  type Entity,
  fieldOf,
  finishDraft,
  markStored,
  noteRevision,
  startDraft,
} from '../../domain/entity.js';
import { takesNull } from '../../domain/kinds/kinds.js';
import { ValidationError } from '../../errors.js';
import { arrayLiteral, type ColumnCodec, columnCodec } from './column-codec.js';
import type { ParameterKind } from './parameter-kind.js';
import { arrayType, parameterType } from './sql-identifier.js';

/** A column and its codec. */
export interface CodedColumn {
  readonly descriptor: ColumnDescriptor;
  readonly codec: ColumnCodec;
  /** How the column's value of an entity is sent; undefined is sent as null. */
  readonly parameter: ParameterKind<Entity | undefined>;
}

/** Converts rows to models of one class, and models to rows. */
export class RowCodec<M extends Entity = Entity> {
  readonly model: ModelDescriptor<M>;
  readonly columns: readonly CodedColumn[];
  /**
   * Fields of natural keys and of the deleted state. Only the server can decide whether a state with these values is
   * valid.
   */
  readonly #keyFields: ReadonlySet<string>;

  private constructor(model: ModelDescriptor<M>) {
    this.model = model;
    this.columns = model.columns.map((descriptor) => {
      const codec = columnCodec(descriptor);
      return { descriptor, codec, parameter: parameterOf(descriptor, codec) };
    });
    const keys = model.keys ?? [];
    const state = keys.length > 0 && model.deletedStates !== undefined ? ['state'] : [];
    this.#keyFields = new Set([...keys.flatMap(({ fields }) => fields), ...state]);
  }

  static readonly #of = memoize((model: ModelDescriptor) => new RowCodec(model));

  /** The codec of a model. There is one per model class. */
  static of<M extends Entity>(model: ModelDescriptor<M>): RowCodec<M> {
    return RowCodec.#of(model as unknown as ModelDescriptor) as unknown as RowCodec<M>;
  }

  /** Converts a row with the values of `columns`, in that order, and perhaps its `xmin`, to a frozen model. */
  decode(row: readonly unknown[]): M {
    const draft = startDraft(this.model);
    for (let index = 0; index < this.columns.length; index += 1) {
      const column = this.columns[index];
      if (column === undefined) break;
      const value = row[index] ?? undefined;
      assign(
        draft,
        column.descriptor.field,
        value === undefined ? absentValue(column.descriptor) : column.codec.fromDriver(value),
      );
    }
    const revision = row[this.columns.length];
    if (typeof revision === 'string') noteRevision(draft, revision);
    return markStored(finishDraft(draft, []));
  }

  /**
   * Validates the values of a folded state that the next state overwrites, because the server never receives them.
   *
   * @throws ValidationError if a value does not fit its column, or if only the server can decide and the model does not
   *   allow folding. Folding never applies to natural keys, because the unique index must check each of their values
   */
  judgeReplaced(state: Entity, next: Entity): void {
    for (const { descriptor, codec } of this.columns) {
      const { field } = descriptor;
      if (field === 'version') continue;
      const value = fieldOf(state, field);
      if (value === fieldOf(next, field)) continue;
      const fits = isAbsent(value, descriptor)
        ? mayBeAbsent(descriptor)
        : codec.isValidated(value, codec.toText(value));
      if (this.#keyFields.has(field) || (!fits && this.model.folding !== true)) {
        throw new ValidationError(`Only the server can check whether ${field} fits its column`, { field });
      }
    }
  }
}

function parameterOf(descriptor: ColumnDescriptor, codec: ColumnCodec): ParameterKind<Entity | undefined> {
  const { field, sqlType } = descriptor;
  const isNull = (value: unknown): boolean => isAbsent(value, descriptor);
  const columnOf = (entity: Entity | undefined): unknown => entity && fieldOf(entity, field);
  return {
    type: parameterType(sqlType),
    one: (entity) => {
      const value = columnOf(entity);
      return isNull(value) ? null : codec.toText(value);
    },
    manyType: arrayType(sqlType),
    many: (rows, of) => {
      const values = rows.map((row) => columnOf(of(row)));
      const packed = codec.pack === undefined || values.some(isNull) ? undefined : codec.pack(values);
      return packed ?? arrayLiteral(values.map((value) => (isNull(value) ? 'NULL' : codec.toElement(value))));
    },
  };
}

/** Whether the column is null. A required JSON value may be null itself: `jsonb` has a null of its own. */
function isAbsent(value: unknown, column: ColumnDescriptor): boolean {
  return value === undefined || (value === null && (column.type.kind !== 'json' || mayBeAbsent(column)));
}

function mayBeAbsent({ optional, nullable }: ColumnDescriptor): boolean {
  return optional === true || nullable === true;
}

function absentValue(column: ColumnDescriptor): null | undefined {
  return takesNull(column) ? null : undefined;
}
