import type { ModelDescriptor } from '../domain/descriptor.js';
import { normalizeType } from '../domain/sql-type.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { quoteIdentifier } from './sql-identifier.js';

/** After a failed look at the catalog, the next one is not made before this time, in milliseconds. */
const PAUSE_MS = 1_000;

/** Constraints of the first migration that no state between can break: residency of ids, numbers that are numbers. */
const HARMLESS = [
  /^CHECK \(eventlog\.is_own_id\(id\)\)$/,
  /^CHECK \(\(?\((?:"[^"]+"|\w+) <> ALL \(ARRAY\['NaN'::numeric(?:, '-?Infinity'::numeric)*\]\)\)?\)\)$/,
];

const CATALOG = `
SELECT
  EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t.oid AND NOT tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid)
    OR EXISTS (SELECT FROM pg_index WHERE indrelid = t.oid
      AND (indisunique AND NOT indisprimary OR indexprs IS NOT NULL OR indpred IS NOT NULL))
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attgenerated <> '')
    OR t.relrowsecurity,
  ARRAY(SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = t.oid AND contype NOT IN ('p', 'n')),
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum),
  ARRAY(SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum)
FROM pg_class AS t WHERE t.oid = to_regclass($1)`;

/**
 * Says which tables of one shard may have several changes of one row written as one. Folding skips the states between,
 * one of which a trigger, a check, a unique constraint or a column of another type than its model says might have
 * refused. Unless its model says so itself, a table is looked at once, when folding it is first asked for; until the
 * answer is there, it is not folded.
 */
export class FoldingRules {
  readonly #database: ShardDatabase;
  readonly #known = new Map<ModelDescriptor, boolean>();
  readonly #notBefore = new Map<ModelDescriptor, number>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  isFoldable(model: ModelDescriptor): boolean {
    if (model.folding !== undefined) return model.folding;
    const known = this.#known.get(model);
    if (known === undefined) this.#look(model);
    return known ?? false;
  }

  #look(model: ModelDescriptor): void {
    const now = performance.now();
    if (now < (this.#notBefore.get(model) ?? 0)) return;
    this.#notBefore.set(model, now + PAUSE_MS);
    this.#inspect(model).then(
      (foldable) => this.#known.set(model, foldable),
      // Not knowing only costs speed; the next contention asks again.
      () => {},
    );
  }

  async #inspect({ table, columns }: ModelDescriptor): Promise<boolean> {
    const { rows } = await this.#database.query({ text: CATALOG, values: [quoteIdentifier(table)] });
    const [isStrict, constraints, names, types] = rows[0] ?? [];
    if (isStrict !== false) return false;
    const isHarmless = (text: string): boolean => HARMLESS.some((known) => known.test(text));
    const typeOf = new Map(
      (names as string[]).map((name, index) => [name, (types as string[])[index] ?? '']),
    );
    return (
      (constraints as readonly string[]).every(isHarmless) &&
      columns.every(({ column, sqlType }) => {
        return normalizeType(typeOf.get(column) ?? '') === normalizeType(sqlType);
      })
    );
  }
}
