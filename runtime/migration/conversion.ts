import { normalizeType } from '../domain/sql-type.js';
import type { CheckFacts, ColumnFacts } from './schema-snapshot.js';
import { isWidening } from './widening.js';

/** Types of numbers, between which casts round or fail. */
const NUMBERS = /^(smallint|integer|bigint|numeric|real|double precision)\b/;
/** Types whose explicit casts cut texts off. */
const LIMITED_TEXTS = /^character( varying)?\(/;

/** A conversion of a column's values. */
interface Conversion {
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
function conversionOf(conversion: Conversion): string | undefined {
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

/** A change of a column's type. */
export interface TypeChange {
  readonly place: string;
  /** The name of the column, as SQL spells it. */
  readonly column: string;
  readonly before: ColumnFacts;
  /** The type that is wanted, and the condition of its check. */
  readonly wanted: { readonly type: string; readonly check?: string };
  /** Check constraints of the column. */
  readonly checks: readonly CheckFacts[];
  /** Whether values that do not fit may make the migration fail. */
  readonly mayFail: boolean;
  /** Whether a check is made from the rule of a field. */
  readonly isRule: (check: string) => boolean;
}

/** The changes of the table, after the removal of checks, for another type; or why it is refused. */
export function planTypeChange(
  change: TypeChange,
): { readonly drops: readonly string[]; readonly changes: readonly string[] } | string {
  const { place, column, before, checks, mayFail, isRule } = change;
  const { type, check } = change.wanted;
  const isSafe = isWidening(before.type, type);
  if (!mayFail && !isSafe)
    return `${place} is ${before.type}; not every value of that type fits ${type}. If all stored values fit, pass --convert ${place}.`;
  const using = isSafe ? `${column}::${type}` : conversionOf({ column, place, from: before.type, to: type });
  if (using === undefined)
    return (
      `${place} is ${before.type}, and whether its values are JSON is not known. Write a migration of your own: ` +
      `alter column ${column} type ${type} using ${jsonForms(column, type)}.`
    );
  const finite = checks.find(({ definition }) => definition.includes("'NaN'"));
  // The rules of the former type may have no meaning for the new one.
  const rules = isSafe ? [] : checks.filter(({ name }) => isRule(name));
  return {
    drops: [...(finite !== undefined && check === undefined ? [finite] : []), ...rules].map(
      ({ name }) => name,
    ),
    changes: [
      ...(!isSafe && before.filledIn ? [`alter column ${column} drop default`] : []),
      `alter column ${column} type ${type} using ${using}`,
      ...(finite === undefined && check !== undefined ? [`add check (${check})`] : []),
    ],
  };
}

/** The two ways between JSON and other values, for a message. */
function jsonForms(column: string, type: string): string {
  return normalizeType(type) === 'jsonb'
    ? `to_jsonb(${column}) makes each value a JSON value, ${column}::jsonb parses it`
    : `(${column} #>> '{}')::${type} takes the value out of JSON`;
}
