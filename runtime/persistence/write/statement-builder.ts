import type { Statement } from '../../sharding/shard-database.js';
import type { ArrayValue } from '../codec/column-codec.js';

/** Most distinct texts that are prepared by name; further ones are sent unnamed. */
const MAXIMUM_PREPARED = 100;
/** Most keys by which texts are found again. */
const MAXIMUM_KEYS = 500;

type PreparedText = Pick<Statement, 'text' | 'name'>;

/** By length of the text, for the life of the process: to hash a text takes longer than to compare it. */
const prepared = new Map<number, PreparedText[]>();
let preparedCount = 0;
/** By key, for the life of the process. */
const keyed = new Map<string, PreparedText>();

/** A text with the name that it is prepared under, if there is one. */
function named(text: string): PreparedText {
  const candidates = prepared.get(text.length) ?? [];
  const known = candidates.find((each) => each.text === text);
  if (known !== undefined) return known;
  if (preparedCount >= MAXIMUM_PREPARED) return { text };
  const made = { text, name: `fw_flush_${preparedCount}` };
  preparedCount += 1;
  prepared.set(text.length, [...candidates, made]);
  return made;
}

/**
 * SQL name of a common table expression. A dot in it keeps it apart from the tables of models: their names are split at
 * dots (`quoteIdentifier`), so that none has one.
 */
export function cte(name: string, suffix: number | string = ''): string {
  return `"fw.${name}${suffix}"`;
}

/** ` WHERE`, if there are conditions. @param conditions undefined: none */
export function where(...conditions: readonly (string | undefined)[]): string {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? '' : ` WHERE ${given.join(' AND ')}`;
}

/** The parameter that is the first of each statement. */
export const NAMESPACE = '$1::text';

/**
 * Appends the values of a statement together with the SQL that refers to them. SQL is written only if it is not known.
 * Expressions are named without `cte`.
 */
export class StatementBuilder {
  readonly #values: (ArrayValue | null)[];
  readonly #expressions: { readonly name: string; readonly as: string; readonly sql: () => string }[] = [];
  /** Places and names of parameters that it could have, but for want of a value has not. */
  #omitted = '';

  constructor(namespace: string) {
    this.#values = [namespace];
  }

  /** Appends values. @returns number of the first parameter */
  append(values: readonly (ArrayValue | null)[]): number {
    for (const value of values) this.#values.push(value);
    return this.#values.length - values.length + 1;
  }

  /** Appends a value. @returns SQL: the parameter */
  bind(value: ArrayValue | null, type: string): string {
    return `$${this.#values.push(value)}::${type}`;
  }

  /** Notes that a parameter is left out, and where: several rows may have one of the same name. */
  omit(name: string): void {
    this.#omitted += ` ${this.#values.length}${name}`;
  }

  /** Appends a common table expression that reads. Materialized, it locks rows once, and before any is written. */
  select(name: string, sql: () => string): void {
    this.#expressions.push({ name, as: 'AS MATERIALIZED', sql });
  }

  /** Appends one that writes. */
  modify(name: string, sql: () => string): void {
    this.#expressions.push({ name, as: 'AS', sql });
  }

  /**
   * @param query what follows the common table expressions
   * @param key determines the text, together with the parameters that are left out
   */
  statement(query: () => string, key: string): Statement {
    const whole = key + this.#omitted;
    let known = keyed.get(whole);
    if (known === undefined) {
      const expressions = this.#expressions.map(({ name, as, sql }) => `${cte(name)} ${as} (${sql()})`);
      known = named(`WITH ${expressions.join(',\n')}\n${query()}`);
      if (keyed.size < MAXIMUM_KEYS) keyed.set(whole, known);
    }
    const { text, name } = known;
    return name === undefined ? { text, values: this.#values } : { text, name, values: this.#values };
  }
}
