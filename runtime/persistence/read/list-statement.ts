import {
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { RowCodec } from '../codec/row-codec.js';
import type { SortColumn, SortKey, SortOrder } from './sort-order.js';

/** Tables whose types are not known at compile time. */
export type AnyTables = Record<string, Record<string, unknown>>;

/** A query over one model's table. */
export type AnyQuery = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** A model and its sort key. */
export interface ListedModel<M> {
  readonly model: M;
  readonly key: SortKey;
}

/** One database's part of a list. */
export interface ListPart<M extends Entity> {
  readonly model: ModelDescriptor<M>;
  readonly order: SortOrder;
  /** The list's own conditions. */
  readonly where: (query: AnyQuery) => AnyQuery;
  readonly includeDeleted: boolean;
  /** Sort key after which the page starts. Undefined: at the beginning. */
  readonly after: SortKey | undefined;
  readonly limit: number;
}

/** Reads the next models of a list from one database, in its order. */
export async function readListPart<M extends Entity>(
  db: Kysely<AnyTables>,
  part: ListPart<M>,
): Promise<readonly ListedModel<M>[]> {
  const codec = RowCodec.of(part.model);
  const rows = await listQuery(db, part).execute();
  return rows.map((row) => ({
    model: codec.decode(codec.columns.map(({ descriptor }) => row[descriptor.column])),
    key: part.order.columns.map((column, index) => keyText(column, row, index)),
  }));
}

/** The list's own conditions with their values: two lists with equal texts have the same models. */
export function conditionsText(
  db: Kysely<AnyTables>,
  model: ModelDescriptor,
  where: (query: AnyQuery) => AnyQuery,
): string {
  const { sql: text, parameters } = where(db.selectFrom(model.table)).compile();
  const shown = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  return JSON.stringify([text, parameters], shown);
}

function listQuery<M extends Entity>(db: Kysely<AnyTables>, part: ListPart<M>): AnyQuery {
  const { model, order, after, limit } = part;
  const { deletedStates = [] } = model;
  let query: AnyQuery = db
    .selectFrom(model.table)
    .select(model.columns.map(({ column }) => qualified(model, column)))
    .limit(limit);
  for (const [index, column] of order.columns.entries()) {
    const reference = sql.ref(qualified(model, column.descriptor.column));
    if (column.codec.asText)
      query = query.select((eb) => eb.cast<string>(reference, 'text').as(textName(index)));
    query = query.orderBy(sortExpression(model, column), column.direction);
  }
  if (after !== undefined) query = query.where(afterKey(model, order, after));
  if (!part.includeDeleted && deletedStates.length > 0) {
    const state = model.columns.find(({ field }) => field === 'state')?.column ?? 'state';
    query = query.where(qualified(model, state), 'not in', deletedStates);
  }
  return part.where(query);
}

/** `table.column`, so that conditions may join other tables. */
function qualified(model: ModelDescriptor, column: string): string {
  return `${model.table}.${column}`;
}

/** Name of the selected text of a sort column. No column of a model can have this name. */
function textName(index: number): string {
  return `sort text ${index}`;
}

function keyText(
  { descriptor, codec }: SortColumn,
  row: Record<string, unknown>,
  index: number,
): string | null {
  const value = row[codec.asText ? textName(index) : descriptor.column];
  return value === null || value === undefined ? null : String(value);
}

function sortExpression(model: ModelDescriptor, { codec, descriptor }: SortColumn): RawBuilder<unknown> {
  const reference = sql.ref(qualified(model, descriptor.column));
  return codec.collated ? sql`${reference} collate "C"` : reference;
}

/** The condition for rows that come after a key. */
function afterKey(model: ModelDescriptor, order: SortOrder, after: SortKey): Expression<SqlBool> {
  const terms = order.columns.map((column, index) => ({
    ...column,
    sorted: sortExpression(model, column),
    value: after[index] ?? null,
  }));
  const [first] = terms;
  const uniform = terms.every(({ nullable, direction }) => !nullable && direction === first?.direction);
  return uniform ? afterRow(terms) : afterTerms(terms);
}

interface KeyTerm extends SortColumn {
  readonly sorted: Expression<unknown>;
  readonly value: string | null;
}

/** `(a, b, id) > ($1, $2, $3)`, which one range scan of an index on the three columns answers. */
function afterRow(terms: readonly KeyTerm[]): Expression<SqlBool> {
  const columns = sql.join(terms.map(({ sorted }) => sorted));
  const values = sql.join(terms.map(({ value }) => value));
  return terms[0]?.direction === 'desc' ? sql`(${columns}) < (${values})` : sql`(${columns}) > (${values})`;
}

/** `a > $1 or a = $1 and (b < $2 or b = $2 and id > $3)`, with nulls last in `asc` and first in `desc`. */
function afterTerms([first, ...rest]: readonly KeyTerm[]): Expression<SqlBool> {
  if (first === undefined) return sql`false`;
  const beyond = beyondTerm(first);
  if (rest.length === 0) return beyond;
  return sql`(${beyond} or (${equalTerm(first)} and ${afterTerms(rest)}))`;
}

function beyondTerm({ sorted, direction, nullable, value }: KeyTerm): Expression<SqlBool> {
  if (value === null) return direction === 'asc' ? sql`false` : sql`${sorted} is not null`;
  if (direction === 'desc') return sql`${sorted} < ${value}`;
  return nullable ? sql`(${sorted} > ${value} or ${sorted} is null)` : sql`${sorted} > ${value}`;
}

function equalTerm({ sorted, value }: KeyTerm): Expression<SqlBool> {
  return value === null ? sql`${sorted} is null` : sql`${sorted} = ${value}`;
}
