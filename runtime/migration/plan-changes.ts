import { normalizeType } from '../domain/sql-type.js';
import { dropIndex, type ExpectedIndex, planIndexes } from './key-index.js';
import type { CheckFacts, ColumnFacts, IndexFacts, SchemaSnapshot, TableFacts } from './schema-snapshot.js';
import { isWidening } from './widening.js';

/** A table as the models require it. */
export interface WantedTable {
  readonly table: string;
  readonly columns: readonly WantedColumn[];
  /** Indexes of the model's natural keys. Default none. */
  readonly indexes?: readonly WantedIndex[];
}

export interface WantedIndex extends ExpectedIndex {
  /** The complete `create unique index` statement. */
  readonly definition: string;
}

export interface WantedColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** Name, type and constraints, in the syntax of `add column`. */
  readonly definition: string;
  /** The condition of its check, which is part of the definition. */
  readonly check?: string;
  /** All values that its field can read, as SQL literals. Absent: they are not listed. */
  readonly values?: readonly string[];
}

/** Explicitly permitted changes. Columns are named `table.column`. */
export interface ChangePermissions {
  /** SQL expressions for existing rows without a value. */
  readonly backfill: ReadonlyMap<string, string>;
  /** Columns, with their values, and unique indexes that may be dropped, as `table.column` or `table.index`. */
  readonly drop: ReadonlySet<string>;
  /** Columns that a trigger of an unfinished `fw-gen migrate rename` keeps equal to others. Default none. */
  readonly renaming?: ReadonlySet<string>;
}

export interface PlannedChanges {
  /** SQL statements without semicolons, in order. */
  readonly statements: readonly string[];
  /** Tables that they change. */
  readonly tables: readonly string[];
  /** Open decisions: nothing may be written while there are any. */
  readonly refusals: readonly string[];
  /** Differences that were kept deliberately. */
  readonly notes: readonly string[];
}

const LITERAL = /^('([^']|'')*'|-?[0-9.]+)$/;

/**
 * The changes from the existing tables to those that the models need. Data is lost only if that is permitted.
 *
 * @param quote quotes a name for SQL
 */
export function planChanges(
  wanted: readonly WantedTable[],
  schema: SchemaSnapshot,
  permissions: ChangePermissions,
  quote: (name: string) => string,
): PlannedChanges {
  const planner = new ChangePlanner(permissions, quote);
  const tables: string[] = [];
  for (const table of wanted) {
    const before = planner.size;
    const found = schema.tables.get(table.table);
    planner.add(table, found);
    if (planner.size > before) tables.push(table.table);
  }
  return { ...planner.finish(), tables };
}

class ChangePlanner {
  readonly #permissions: ChangePermissions;
  readonly #quote: (name: string) => string;
  readonly #statements: string[] = [];
  readonly #refusals: string[] = [];
  readonly #notes: string[] = [];
  readonly #used = new Set<string>();

  constructor(permissions: ChangePermissions, quote: (name: string) => string) {
    this.#permissions = permissions;
    this.#quote = quote;
  }

  /** Number of statements. */
  get size(): number {
    return this.#statements.length;
  }

  add({ table, columns, indexes = [] }: WantedTable, found: TableFacts | undefined): void {
    if (found === undefined) {
      this.#refusals.push(
        `No migration creates table ${table}: run fw-gen generate, which writes its first one.`,
      );
      return;
    }
    const present = new Map(found.columns.map((column) => [column.name, column]));
    const leftOver = new Map(present);
    for (const column of columns) {
      const before = present.get(column.name);
      if (before === undefined) this.#addColumn(table, column);
      else {
        const ofColumn = found.checks.filter(({ columns: of }) => of.join() === before.name);
        this.#alter(table, column, before, ofColumn);
      }
      leftOver.delete(column.name);
    }
    const plan = planIndexes(table, indexes, found.uniqueIndexes, this.#quote);
    this.#statements.push(...plan.statements);
    for (const index of plan.leftOver) this.#leftOverIndex(table, index);
    for (const column of leftOver.values()) this.#leftOver(table, column);
  }

  /** Adds a refusal for each unused permission, which is probably misspelled. */
  finish(): Omit<PlannedChanges, 'tables'> {
    const { backfill, drop } = this.#permissions;
    const unused = [...backfill.keys(), ...drop].filter((place) => !this.#used.has(place));
    const refusals = unused.map((place) => `${place} matches no pending change. Check the spelling.`);
    return {
      statements: this.#statements,
      refusals: [...this.#refusals, ...refusals],
      notes: this.#notes,
    };
  }

  #addColumn(table: string, column: WantedColumn): void {
    if (column.nullable) {
      this.#alterTable(table, `add column ${column.definition}`);
      return;
    }
    const value = this.#backfill(table, column);
    if (value === undefined) {
      this.#refusals.push(
        `${table}.${column.name} needs a value in existing rows. Make the field optional, or pass a value with ` +
          `--backfill '${table}.${column.name}=<sql>'. If another column was renamed, use fw-gen migrate rename while ` +
          `older processes run, or a migration of your own while none do: alter table ${this.#quote(table)} rename column ` +
          `... to ${this.#quote(column.name)}`,
      );
      return;
    }
    // The default is kept, because processes of the previous release insert rows without the column.
    this.#alterTable(table, `add column ${column.definition} default (${value})`);
  }

  #alter(table: string, column: WantedColumn, before: ColumnFacts, checks: readonly CheckFacts[]): void {
    const place = `${table}.${column.name}`;
    const name = this.#quote(column.name);
    if (normalizeType(before.type) !== normalizeType(column.type))
      this.#changeType(table, column, before, checks);
    if (column.nullable && !before.nullable) this.#alterTable(table, `alter column ${name} drop not null`);
    if (column.nullable || !before.nullable) return;
    const value = this.#backfill(table, column);
    if (value === undefined) {
      this.#refusals.push(
        `${place} may be null in existing rows, but the model requires a value. Pass one with ` +
          `--backfill '${place}=<sql>'.`,
      );
      return;
    }
    this.#statements.push(`update ${this.#quote(table)} set ${name} = (${value}) where ${name} is null`);
    this.#alterTable(table, `alter column ${name} set not null`);
  }

  #changeType(table: string, wanted: WantedColumn, before: ColumnFacts, checks: readonly CheckFacts[]): void {
    const { type, check } = wanted;
    const column = this.#quote(wanted.name);
    if (!isWidening(before.type, type)) {
      this.#refusals.push(
        `${table}.${wanted.name} is ${before.type}; not every value of that type fits ${type}. Write a migration of ` +
          `your own: alter table ${this.#quote(table)} alter column ${column} type ${type} using ...`,
      );
      return;
    }
    this.#alterTable(table, `alter column ${column} type ${type} using ${column}::${type}`);
    const refusesNaN = checks.some(({ definition }) => definition.includes("'NaN'"));
    if (check !== undefined && !refusesNaN) this.#alterTable(table, `add check (${check})`);
  }

  #leftOver(table: string, column: ColumnFacts): void {
    const place = `${table}.${column.name}`;
    const isDropped = this.#permissions.drop.has(place);
    if (isDropped) this.#used.add(place);
    if (this.#permissions.renaming?.has(place) === true) {
      const finish = `${place} is being renamed: finish that with fw-gen migrate rename ... --finish`;
      (isDropped ? this.#refusals : this.#notes).push(finish);
      return;
    }
    if (isDropped) {
      this.#alterTable(table, `drop column ${this.#quote(column.name)}`);
      return;
    }
    const hint = `no model has the column ${place}; it is kept with its data (drop it with --drop ${place})`;
    if (column.nullable || column.filledIn) {
      this.#notes.push(hint);
      return;
    }
    this.#alterTable(table, `alter column ${this.#quote(column.name)} drop not null`);
    this.#notes.push(
      `${hint}; new rows leave it null, so processes of the previous release cannot be started again`,
    );
  }

  #leftOverIndex(table: string, index: IndexFacts): void {
    const { name, columns } = index;
    // It is dropped with its column.
    if (columns.some((column) => this.#permissions.drop.has(`${table}.${column}`))) return;
    const place = `${table}.${name}`;
    if (this.#permissions.drop.has(place)) {
      this.#used.add(place);
      this.#statements.push(dropIndex(table, index, this.#quote));
      return;
    }
    this.#notes.push(
      `no model has a natural key for the unique index ${name} on ${table} (${columns.join(', ')}); it is kept and still ` +
        `refuses duplicates (drop it with --drop ${place})`,
    );
  }

  #backfill(table: string, { name, values }: WantedColumn): string | undefined {
    const place = `${table}.${name}`;
    const value = this.#permissions.backfill.get(place);
    if (value === undefined) return undefined;
    this.#used.add(place);
    if (LITERAL.test(value) && values?.includes(value) === false)
      this.#refusals.push(
        `${place} cannot be ${value}: each read of such a row would fail. The field has ${values.join(', ')}.`,
      );
    return value;
  }

  #alterTable(table: string, change: string): void {
    this.#statements.push(`alter table ${this.#quote(table)} ${change}`);
  }
}
