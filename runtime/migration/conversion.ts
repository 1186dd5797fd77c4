import { normalizeType } from '../domain/sql-type.js';

/** Types of numbers, between which casts round or fail. */
const NUMBERS = /^(smallint|integer|bigint|numeric|real|double precision)\b/;
/** Types whose explicit casts cut texts off. */
const LIMITED_TEXTS = /^character( varying)?\(/;

/** A conversion of a column's values. */
export interface Conversion {
  /** The name of the column, as SQL spells it. */
  readonly column: string;
  /** Table and column, for messages. */
  readonly place: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The expression that converts each value, for `alter column ... type ... using`. A value that would be rounded or cut
 * off makes the migration fail with its text:
 *
 * ```sql
 * case when price::numeric(19,4)::double precision = price then price::numeric(19,4)
 *   else ('items.price does not fit: ' || price)::numeric(19,4) end
 * ```
 *
 * Undefined where the types do not tell which of two conversions is meant: a text may be JSON, or become a JSON string.
 */
export function conversionOf(conversion: Conversion): string | undefined {
  const { column, place } = conversion;
  const [from, to] = [normalizeType(conversion.from), normalizeType(conversion.to)];
  if ((from === 'jsonb') !== (to === 'jsonb') && from !== 'json') return undefined;
  const cast = `${column}::${conversion.to}`;
  const kept = keptBy(column, cast, from, to);
  if (kept === undefined) return cast;
  const failure = `('${place.replaceAll("'", "''")} does not fit: ' || ${column})`;
  // A cast of this text to a number fails, and the message contains it.
  const failing = NUMBERS.test(to) ? `${failure}::${conversion.to}` : `${failure}::integer::${conversion.to}`;
  return `case when ${kept} then ${cast} else ${failing} end`;
}

/** The condition under which a cast keeps the value; undefined if it does so, or fails by itself. */
function keptBy(column: string, cast: string, from: string, to: string): string | undefined {
  if (NUMBERS.test(to)) {
    if (NUMBERS.test(from)) return `${cast}::${from} = ${column}`;
    return to.startsWith('numeric(') ? `${cast} = ${column}::numeric` : undefined;
  }
  return LIMITED_TEXTS.test(to) ? `${cast}::text = ${column}::text` : undefined;
}
