import { time } from '../../concurrency/time.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { normalizeType } from '../../domain/sql-type.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { quoteElement } from '../codec/column-codec.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';

/** Pause after a failed look-up in the catalog, in milliseconds. */
const PAUSE_MS = 1_000;
/**
 * Time after which a table that may not be folded is checked again, in milliseconds. The cause may have been removed.
 */
const STRICT_MS = 60_000;

/** Constraints of the first migration that no intermediate state can violate: residency of ids, and finite numbers. */
const HARMLESS = [
  /^CHECK \(eventlog\.is_own_id\(id\)\)$/,
  /^CHECK \(\(?\((?:"[^"]+"|\w+) <> ALL \(ARRAY\['NaN'::numeric(?:, '-?Infinity'::numeric)*\]\)\)?\)\)$/,
];

const CATALOG = `
SELECT
  EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t.oid AND NOT tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid)
    OR EXISTS (SELECT FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid WHERE indrelid = t.oid
      AND (indisunique AND NOT indisprimary OR indexprs IS NOT NULL OR indpred IS NOT NULL) AND i.relname <> ALL ($3::text[]))
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attgenerated <> '')
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attnotnull AND attname = ANY ($2::text[]))
    OR t.relrowsecurity OR t.relkind <> 'r' OR t.relhassubclass OR t.relispartition,
  ARRAY(SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = t.oid AND contype NOT IN ('p', 'n')
    AND NOT (contype = 'c' AND conname = ANY ($4::text[]))),
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum),
  ARRAY(SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum)
FROM pg_class AS t WHERE t.oid = to_regclass($1)`;

/**
 * Null outside READ COMMITTED, where the snapshot of a statement may be older than its locks and does not prove the
 * shape.
 */
const SHAPE = 'SELECT eventlog.read_table_shape(to_regclass($1))::text';

/** The rules by which a statement folds have changed. It has applied nothing. */
export class FoldingOutdated extends Error {
  override readonly name: string = 'FoldingOutdated';
}

/**
 * Condition: the table still has the shape that was read from the catalog.
 *
 * The planner evaluates the function once, under the lock of the table and with its own snapshot, and keeps the number
 * in the prepared plan. A change of the number needs a lock that conflicts with that of the statement, or waits for it,
 * and makes the server plan the statement again. The number omits changes that do not cause a new plan, because plans
 * of two connections would disagree permanently: the server invalidates plans by table, and `ALTER TABLE ... CLUSTER
 * ON` changes only a row of an index.
 *
 * @param shape parameter
 */
export function foldingCondition({ table }: ModelDescriptor, shape: string): string {
  return `eventlog.table_shape(${quoteLiteral(quoteIdentifier(table))}::regclass) = ${shape}`;
}

/**
 * Determines the tables of one shard in which several changes of one row may be written as one. Folding skips the
 * intermediate states, but a trigger, a check, a unique constraint or a column of another type might have refused one
 * of them. Unless the model has the option, the first request for folding checks the table, which is not folded until
 * the result is known. A migration may change the result at any time, so each folding statement verifies it.
 */
export class FoldingRules {
  readonly #database: ShardDatabase;
  /** The shape of each checked table; undefined if it must not be folded. */
  readonly #known = new Map<ModelDescriptor, string | undefined>();
  readonly #notBefore = new Map<ModelDescriptor, number>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  isFoldable(model: ModelDescriptor): boolean {
    if (model.folding !== undefined) return model.folding;
    const known = this.#known.get(model);
    if (known === undefined) this.#look(model);
    return known !== undefined;
  }

  /**
   * The shape of the table that a statement must verify if it folds rows of this model; undefined if the model has the
   * option `folding: true`.
   */
  shapeOf(model: ModelDescriptor): string | undefined {
    if (model.folding === true) return undefined;
    const known = this.#known.get(model);
    if (known === undefined) throw new FoldingOutdated(`${model.table} may not be folded`);
    return known;
  }

  /** Must be called when a statement has found another shape: the table is then checked again. */
  forget(model: ModelDescriptor): void {
    this.#known.delete(model);
    this.#notBefore.delete(model);
  }

  #look(model: ModelDescriptor): void {
    const now = time.nowMs();
    if (now < (this.#notBefore.get(model) ?? 0)) return;
    this.#notBefore.set(model, now + PAUSE_MS);
    this.#inspect(model).then(
      (shape) => {
        this.#known.set(model, shape);
        this.#notBefore.set(model, time.nowMs() + STRICT_MS);
      },
      // An unknown shape only costs speed. The next contention repeats the request.
      () => {},
    );
  }

  async #inspect(model: ModelDescriptor): Promise<string | undefined> {
    const { table, columns, keys = [], checks = [] } = model;
    const list = (names: readonly string[]): string => `{${names.map(quoteElement).join(',')}}`;
    const indexes = list(keys.map(({ index }) => index));
    const values = [quoteIdentifier(table), list(optionalColumns(model)), indexes, list(checks)];
    // Read first: if the table changes before the other reads, its shape differs from this one.
    const before = await this.#database.query({ text: SHAPE, values: values.slice(0, 1) });
    const { rows } = await this.#database.query({ text: CATALOG, values });
    const [isStrict, constraints, present, types] = rows[0] ?? [];
    if (isStrict !== false) return undefined;
    const isHarmless = (text: string): boolean => HARMLESS.some((known) => known.test(text));
    const typeOf = new Map(
      (present as string[]).map((name, index) => [name, (types as string[])[index] ?? '']),
    );
    const isFoldable =
      (constraints as readonly string[]).every(isHarmless) &&
      columns.every(({ column, sqlType }) => {
        return normalizeType(typeOf.get(column) ?? '') === normalizeType(sqlType);
      });
    const shape = before.rows[0]?.[0];
    return isFoldable && typeof shape === 'string' ? shape : undefined;
  }
}

/** Columns that a state may leave empty, and that a table must not require. */
function optionalColumns({ columns }: ModelDescriptor): readonly string[] {
  return columns.flatMap(({ column, optional, nullable }) =>
    optional === true || nullable === true ? [column] : [],
  );
}

function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
