import type { ColumnDescriptor } from '../../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { ValidationError } from '../../errors.js';
import { compareValues, type SortCodec, sortCodec } from '../codec/sort-codec.js';

/** One field that a list is sorted by. */
export interface SortTerm<M> {
  /** A field of the model that is stored in its own column. */
  readonly field: keyof M & string;
  /** Default `asc`. Models without a value come last in `asc` and first in `desc`. */
  readonly direction?: SortDirection;
}

/** Direction of one sort term. */
type SortDirection = 'asc' | 'desc';

/** A sort term with its column, codec and direction. */
export interface SortColumn {
  readonly descriptor: ColumnDescriptor;
  readonly direction: SortDirection;
  readonly nullable: boolean;
  readonly codec: SortCodec;
}

/** The sort key of one row: the text of each sort column. */
export type SortKey = readonly (string | null)[];

/** No index serves statements with more terms. */
const MAXIMUM_TERMS = 8;

/**
 * The order of a list over many databases. It ends with the id, so that no two rows are equal. It does not depend on
 * settings of the databases: text is ordered by code points.
 */
export class SortOrder {
  readonly columns: readonly SortColumn[];
  /** The name of the order in a cursor. */
  readonly name: string;

  private constructor(columns: readonly SortColumn[]) {
    this.columns = columns;
    this.name = columns.map(({ descriptor, direction }) => `${descriptor.field} ${direction}`).join(',');
  }

  /**
   * @param terms default: by id, that is, by creation time
   * @throws ValidationError for a field that is not stored, has no order or is listed twice
   */
  static of<M extends Entity>(model: ModelDescriptor<M>, terms: readonly SortTerm<M>[] = []): SortOrder {
    if (terms.length > MAXIMUM_TERMS) throw refusal(`at most ${MAXIMUM_TERMS} fields`);
    const named = terms.map(({ field, direction = 'asc' }) => sortColumn(model, field, direction));
    const fields = new Set(named.map(({ descriptor }) => descriptor.field));
    if (fields.size < named.length) throw refusal('each field once');
    // The id has the direction of the last term, so that one row comparison finds the next page.
    const direction = named.at(-1)?.direction ?? 'asc';
    return new SortOrder(fields.has('id') ? named : [...named, sortColumn(model, 'id', direction)]);
  }

  /** Negative if `left` comes first. */
  compare(left: SortKey, right: SortKey): number {
    for (const [index, column] of this.columns.entries()) {
      const result = compareTexts(column, left[index] ?? null, right[index] ?? null);
      if (result !== 0) return column.direction === 'asc' ? result : -result;
    }
    return 0;
  }

  /** Whether a row of this list could have a sort key that a client sent. */
  accepts(key: SortKey): boolean {
    return (
      key.length === this.columns.length &&
      this.columns.every(({ codec, nullable }, index) => {
        const text = key[index] ?? null;
        return text === null ? nullable : codec.accepts(text);
      })
    );
  }
}

function sortColumn<M extends Entity>(
  model: ModelDescriptor<M>,
  field: string,
  direction: SortDirection,
): SortColumn {
  const descriptor = model.columns.find((column) => column.field === field);
  if (descriptor === undefined)
    throw refusal(`stored fields of ${model.name}, not by ${JSON.stringify(field)}`);
  if (direction !== 'asc' && direction !== 'desc') throw refusal('asc or desc');
  const nullable = descriptor.nullable === true || descriptor.optional === true;
  return { descriptor, direction, nullable, codec: sortCodec(descriptor) };
}

function compareTexts({ codec }: SortColumn, left: string | null, right: string | null): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return compareValues(codec.toValue(left), codec.toValue(right));
}

function refusal(what: string): ValidationError {
  return new ValidationError(`A list is sorted by ${what}`, { field: 'orderBy' });
}
