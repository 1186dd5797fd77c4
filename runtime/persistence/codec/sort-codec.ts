import { Decimal } from '../../domain/decimal.js';
import type { ColumnDescriptor } from '../../domain/descriptor.js';
import type { ColumnOrder } from '../../domain/kinds/field-kind.js';
import { columnKindOf } from '../../domain/kinds/kinds.js';
import { normalizeType } from '../../domain/sql-type.js';
import { isUnstorable } from '../../domain/storable-text.js';
import { ValidationError } from '../../errors.js';
import { parseInstant } from '../../sharding/value-parsers.js';

/** A value in the form in which the merge compares it. */
export type SortValue = string | number | bigint | boolean | Decimal | Buffer;

/**
 * Orders the values of one column exactly as the database orders them, so that sorted pages of several databases can be
 * merged. Values travel as text, in cursors and as parameters of the next statement.
 */
export interface SortCodec {
  /**
   * Whether the column is sorted with an explicit collation, because text order must not depend on a database's
   * collation. Default false.
   */
  readonly collated?: true;
  /**
   * Whether the statement selects the value as text, because the driver's value would lose digits. Default false: the
   * text is that of the driver's value.
   */
  readonly asText?: true;
  /** Whether a text that a client sent could be that of a value. */
  readonly accepts: (text: string) => boolean;
  readonly toValue: (text: string) => SortValue;
}

/** Column types that have another order, or another text, than the codec of this one. */
const OTHERS: Partial<Record<ColumnOrder, RegExp>> = { text: /^(?!text$|character\b)/, double: /^numeric\b/ };

/** @throws ValidationError if values of this column have no order */
export function sortCodec(column: ColumnDescriptor): SortCodec {
  const kind = columnKindOf(column);
  const type = normalizeType(column.sqlType);
  if (kind !== undefined && OTHERS[kind.order]?.test(type) !== true) return CODECS[kind.order];
  throw new ValidationError(`${column.field} cannot be sorted by: its column has the type ${type}`, {
    field: 'orderBy',
  });
}

/** Compares two values of one type in ascending order, as PostgreSQL does. Negative if `left` comes first. */
export function compareValues(left: SortValue, right: SortValue): number {
  if (left instanceof Decimal && right instanceof Decimal) return left.cmp(right);
  if (left instanceof Buffer && right instanceof Buffer) return Buffer.compare(left, right);
  if (Number.isNaN(left) || Number.isNaN(right))
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : Number(left > right);
}

const BIGINT_LIMIT = 2n ** 63n;
const MICROSECONDS = /\.(\d{1,6})/;

const CODECS: Readonly<Record<ColumnOrder, SortCodec>> = {
  // By code points, which is the order of the UTF-8 bytes. JavaScript compares UTF-16 units instead.
  text: { collated: true, accepts: (text) => !isUnstorable(text), toValue: (text) => Buffer.from(text) },
  uuid: {
    accepts: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
    toValue: (text) => text,
  },
  integer: {
    accepts: (text) => /^(0|-?[1-9]\d{0,18})$/.test(text) && inRange(BigInt(text)),
    toValue: BigInt,
  },
  double: { accepts: (text) => String(Number(text)) === text, toValue: Number },
  numeric: {
    // A numeric column has at most 1,000 digits; a longer text is refused without parsing it.
    accepts: (text) => text.length <= 1_002 && /^-?\d+(\.\d+)?$/.test(text),
    toValue: (text) => new Decimal(text),
  },
  boolean: { accepts: (text) => text === 'true' || text === 'false', toValue: (text) => text === 'true' },
  // Rows written by other programs may have microseconds, which a `Date` would lose. Sessions run in UTC.
  time: {
    asText: true,
    accepts: (text) =>
      /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00( BC)?$/.test(text) &&
      !Number.isNaN(parseInstant(text).getTime()),
    toValue: (text) => {
      const finer = (MICROSECONDS.exec(text)?.[1] ?? '').padEnd(6, '0').slice(3);
      return BigInt(parseInstant(text).getTime()) * 1_000n + BigInt(finer);
    },
  },
};

function inRange(value: bigint): boolean {
  return value < BIGINT_LIMIT && value >= -BIGINT_LIMIT;
}
