import type { ColumnDescriptor, ModelDescriptor } from '../domain/descriptor.js';
import { assign, type Entity, fieldOf, finishDraft, startDraft } from '../domain/entity.js';
import { type ColumnCodec, columnCodec } from './column-codec.js';

/** A column with its codec. */
export interface CodedColumn {
  readonly descriptor: ColumnDescriptor;
  readonly codec: ColumnCodec;
}

/** Rows to models and back, for one model class. */
export class RowCodec<M extends Entity = Entity> {
  readonly model: ModelDescriptor<M>;
  readonly columns: readonly CodedColumn[];
  /** Position of `id` among the columns. */
  readonly idIndex: number;

  private constructor(model: ModelDescriptor<M>) {
    this.model = model;
    this.columns = model.columns.map((descriptor) => ({ descriptor, codec: columnCodec(descriptor) }));
    this.idIndex = model.columns.findIndex(({ field }) => field === 'id');
  }

  static readonly #codecs = new WeakMap<object, RowCodec>();

  /** The codec of a model, made once. */
  static of<M extends Entity>(model: ModelDescriptor<M>): RowCodec<M> {
    const known = RowCodec.#codecs.get(model);
    if (known !== undefined) return known as unknown as RowCodec<M>;
    const codec = new RowCodec(model);
    RowCodec.#codecs.set(model, codec as unknown as RowCodec);
    return codec;
  }

  /** A row with the values of `columns`, in that order, as a frozen model. */
  decode(row: readonly unknown[]): M {
    const draft = startDraft(this.model);
    for (let index = 0; index < this.columns.length; index += 1) {
      const column = this.columns[index];
      if (column === undefined) break;
      const value = row[index];
      const absent = value === null || value === undefined;
      assign(
        draft,
        column.descriptor.field,
        absent ? absentValue(column.descriptor) : column.codec.fromDriver(value),
      );
    }
    return finishDraft(draft, []);
  }

  /** The value of one column as the text of a parameter. */
  text(column: CodedColumn, entity: Entity): string | null {
    const value = fieldOf(entity, column.descriptor.field);
    return value === null || value === undefined ? null : column.codec.toText(value);
  }

  /** The value of one column as an element of an array literal. */
  element(column: CodedColumn, entity: Entity): string {
    const value = fieldOf(entity, column.descriptor.field);
    return value === null || value === undefined ? 'NULL' : column.codec.toElement(value);
  }
}

function absentValue({ nullable }: ColumnDescriptor): null | undefined {
  return nullable ? null : undefined;
}
