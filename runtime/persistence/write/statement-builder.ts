import type { Statement } from '../../sharding/shard-database.js';
import type { ArrayValue } from '../codec/column-codec.js';

/** Most distinct texts that are prepared by name; further ones are sent unnamed. */
const MAXIMUM_PREPARED = 100;

type Prepared = Pick<Statement, 'text' | 'name'>;

/** By key, for the life of the process. */
const prepared = new Map<string, Prepared>();

/**
 * SQL name of a common table expression. A dot in it keeps it apart from the tables of models: their names are split at
 * dots (`quoteIdentifier`), so that none has one.
 */
export function cte(name: string, suffix: number | string = ''): string {
  return `"fw.${name}${suffix}"`;
}

/**
 * Appends the values of a statement together with the SQL that refers to them.
 *
 * SQL is given as functions: they are called for the first statement of a key, whose text serves all others.
 */
export class StatementBuilder {
  readonly #values: (ArrayValue | null)[] = [];
  readonly #expressions: (() => string)[] = [];
  #query: () => string = () => '';
  #key = '';

  /** Appends a value. @returns its number */
  bind(value: ArrayValue | null): number {
    return this.#values.push(value);
  }

  /** Appends a common table expression. @param key what its SQL depends on besides the keys before it */
  with(key: string, sql: () => string): void {
    this.dependOn(key);
    this.#expressions.push(sql);
  }

  /** Sets what stands behind the common table expressions. It depends on their keys. */
  query(sql: () => string): void {
    this.#query = sql;
  }

  dependOn(key: string): void {
    this.#key += `${key};`;
  }

  /** One per text. */
  get key(): string {
    return this.#key;
  }

  text(): string {
    return `WITH ${this.#expressions.map((sql) => sql()).join(',\n')}\n${this.#query()}`;
  }

  statement(): Statement {
    const { text, name } = prepared.get(this.#key) ?? this.#prepare();
    return name === undefined ? { text, values: this.#values } : { text, name, values: this.#values };
  }

  #prepare(): Prepared {
    const text = this.text();
    if (prepared.size >= MAXIMUM_PREPARED) return { text };
    const made = { text, name: `fw_flush_${prepared.size}` };
    prepared.set(this.#key, made);
    return made;
  }
}
