import type { Statement } from '../../sharding/shard-database.js';
import type { ArrayValue } from '../codec/column-codec.js';

/** Most distinct texts that are prepared by name; further ones are sent unnamed. */
const MAXIMUM_PREPARED = 100;

/** By length of the text, for the life of the process: to hash a text takes longer than to compare it. */
const prepared = new Map<number, Pick<Statement, 'text' | 'name'>[]>();
let preparedCount = 0;

/** A text with the name that it is prepared under, if there is one. */
function named(text: string): Pick<Statement, 'text' | 'name'> {
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

/** How a row gives a parameter. */
export interface BoundCell {
  readonly type: string;
  one(row: unknown): string | null;
}

/** Appends the values of a statement together with the SQL that refers to them. */
export class StatementBuilder {
  readonly #values: (ArrayValue | null)[] = [];
  /** The parameters that rows give one by one. */
  readonly bound: { readonly row: unknown; readonly cell: BoundCell }[] = [];
  readonly #expressions: string[] = [];

  /** Appends a value. @returns SQL: the parameter */
  bind(value: ArrayValue | null, type: string): string {
    return `$${this.#values.push(value)}::${type}`;
  }

  /** Appends the value that a row gives. @returns SQL: the parameter */
  bindCell(row: unknown, cell: BoundCell): string {
    this.bound.push({ row, cell });
    return this.bind(cell.one(row), cell.type);
  }

  /**
   * Appends a common table expression that reads. Materialized, it locks rows once, and before any is written.
   *
   * @returns its name
   */
  select(name: string, sql: string): string {
    this.#expressions.push(`${name} AS MATERIALIZED (${sql})`);
    return name;
  }

  /** Appends one that writes. */
  modify(name: string, sql: string): void {
    this.#expressions.push(`${name} AS (${sql})`);
  }

  /** @param query what follows the common table expressions */
  statement(query: string): Statement {
    return { ...named(`WITH ${this.#expressions.join(',\n')}\n${query}`), values: this.#values };
  }
}
