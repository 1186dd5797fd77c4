import { time } from '../../concurrency/time.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { normalizeType } from '../../domain/sql-type.js';
import { INTERNAL_ACCESS } from '../../sharding/internal-access.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { quoteElement } from '../codec/column-codec.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';

/** Pause after a failed look-up in the catalog, in milliseconds. */
const PAUSE_MS = 1_000;
/** Time after which a table is checked again, in milliseconds: a migration may have changed it. */
const CHECKED_MS = 60_000;

/** Constraints of the first migration that no intermediate state can violate: residency of ids, and finite numbers. */
const HARMLESS = [
  /^CHECK \(eventlog\.is_own_id\(id\)\)$/,
  /^CHECK \(\(?\((?:"[^"]+"|\w+) <> ALL \(ARRAY\['NaN'::numeric(?:, '-?Infinity'::numeric)*\]\)\)?\)\)$/,
];

const CATALOG = `
SELECT
  EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t.oid AND NOT tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid)
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attgenerated <> '')
    OR t.relrowsecurity OR t.relkind <> 'r' OR t.relhassubclass OR t.relispartition,
  EXISTS (SELECT FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid WHERE indrelid = t.oid
      AND (indisunique AND NOT indisprimary OR indexprs IS NOT NULL OR indpred IS NOT NULL) AND i.relname <> ALL ($3::text[]))
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attnotnull AND attname = ANY ($2::text[])),
  ARRAY(SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = t.oid AND contype NOT IN ('p', 'n')),
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum),
  ARRAY(SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 ORDER BY attnum)
FROM pg_class AS t WHERE t.oid = to_regclass($1)`;

/** What the catalog says about a table. */
interface TableFacts {
  readonly isFoldable: boolean;
  readonly storesAsStaged: boolean;
}

const UNKNOWN: TableFacts = { isFoldable: false, storesAsStaged: false };

/**
 * Determines the tables of one shard in which several changes of one row may be written as one, and those whose rows
 * are stored as plans stage them. Folding skips the intermediate states, but a trigger, a check, a unique constraint or
 * a column of another type might have refused one of them; a trigger may also change what is stored. The first request
 * checks the table, for which both answers are no until the result is known. A migration may change the table while the
 * process serves, so the result is checked again every minute in which it is asked for; until then the last one applies.
 */
export class FoldingRules {
  readonly #database: ShardDatabase;
  readonly #facts = new Map<ModelDescriptor, TableFacts>();
  readonly #checks = new Map<ModelDescriptor, Promise<void>>();
  readonly #notBefore = new Map<ModelDescriptor, number>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  isFoldable(model: ModelDescriptor): boolean {
    return model.folding ?? this.#factsOf(model).isFoldable;
  }

  /** Whether a row has the values of the state that a plan staged, so that it need not be read again. */
  storesAsStaged(model: ModelDescriptor): boolean {
    return this.#factsOf(model).storesAsStaged;
  }

  /** Resolves when the table has been checked for the first time. Undefined: it has. */
  ready(model: ModelDescriptor): Promise<void> | undefined {
    return this.#facts.has(model) ? undefined : this.#checkIfDue(model);
  }

  #factsOf(model: ModelDescriptor): TableFacts {
    void this.#checkIfDue(model);
    return this.#facts.get(model) ?? UNKNOWN;
  }

  /** The check in progress, if there is one. Never rejects. */
  #checkIfDue(model: ModelDescriptor): Promise<void> | undefined {
    const now = time.nowMs();
    if (now < (this.#notBefore.get(model) ?? 0)) return this.#checks.get(model);
    this.#notBefore.set(model, now + PAUSE_MS);
    const check = this.#inspect(model)
      .then(
        (facts) => {
          this.#facts.set(model, facts);
          this.#notBefore.set(model, time.nowMs() + CHECKED_MS);
        },
        // An unknown result only costs speed. A later request repeats the check.
        () => {},
      )
      .finally(() => this.#checks.delete(model));
    this.#checks.set(model, check);
    return check;
  }

  async #inspect(model: ModelDescriptor): Promise<TableFacts> {
    const { table, columns, keys = [] } = model;
    const list = (names: readonly string[]): string => `{${names.map(quoteElement).join(',')}}`;
    const indexes = list(keys.map(({ index }) => index));
    const values = [quoteIdentifier(table), list(optionalColumns(model)), indexes];
    const { rows } = await this.#database.query({ text: CATALOG, values }, { access: INTERNAL_ACCESS });
    const [isActive, isStrict, constraints, present, types] = rows[0] ?? [];
    if (isActive !== false) return UNKNOWN;
    const isHarmless = (text: string): boolean => HARMLESS.some((known) => known.test(text));
    const typeOf = new Map(
      (present as string[]).map((name, index) => [name, (types as string[])[index] ?? '']),
    );
    const storesAsStaged = columns.every(({ column, sqlType }) => {
      return normalizeType(typeOf.get(column) ?? '') === normalizeType(sqlType);
    });
    const isLenient = isStrict === false && (constraints as readonly string[]).every(isHarmless);
    return { storesAsStaged, isFoldable: storesAsStaged && isLenient };
  }
}

/** Columns that a state may leave empty, and that a table must not require. */
function optionalColumns({ columns }: ModelDescriptor): readonly string[] {
  return columns.flatMap(({ column, optional, nullable }) =>
    optional === true || nullable === true ? [column] : [],
  );
}
