import type { ModelDescriptor } from '../domain/descriptor.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { quoteIdentifier } from './sql-identifier.js';

/** After a failed look at the catalog, the next one is not made before this time, in milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Constraints of the first migration that a last state satisfies if every state does, and that no state between can
 * break: the residency of the id, and numbers that are numbers.
 */
const HARMLESS = [
  /^CHECK \(eventlog\.is_own_id\(id\)\)$/,
  /^CHECK \(\(?\("?\w+"? <> ALL \(ARRAY\['NaN'::numeric/,
];

const CATALOG = `
SELECT
  EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = to_regclass($1)),
  ARRAY(SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype NOT IN ('p', 'n')),
  EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND NOT indisprimary)`;

/**
 * Says which tables of one shard may have several changes of one row written as one. Folding skips the states between;
 * a trigger, a check or a unique constraint might have refused one of them. Unless its model says so itself, a table
 * is looked at once, when folding it is first asked for; until the answer is there, it is not folded.
 */
export class FoldingRules {
  readonly #database: ShardDatabase;
  readonly #known = new Map<string, boolean>();
  readonly #notBefore = new Map<string, number>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  isFoldable({ folding, table }: ModelDescriptor): boolean {
    if (folding !== undefined) return folding;
    const known = this.#known.get(table);
    if (known === undefined) this.#look(table);
    return known ?? false;
  }

  #look(table: string): void {
    const now = performance.now();
    if (now < (this.#notBefore.get(table) ?? 0)) return;
    this.#notBefore.set(table, now + PAUSE_MS);
    this.#inspect(table).then(
      (foldable) => this.#known.set(table, foldable),
      // Not knowing only costs speed; the next contention asks again.
      () => {},
    );
  }

  async #inspect(table: string): Promise<boolean> {
    const { rows } = await this.#database.query({ text: CATALOG, values: [quoteIdentifier(table)] });
    const [hasTriggers, constraints, isUnique] = rows[0] ?? [];
    const harmful = (constraints as readonly string[]).filter(
      (text) => !HARMLESS.some((known) => known.test(text)),
    );
    return hasTriggers === false && harmful.length === 0 && isUnique === false;
  }
}
