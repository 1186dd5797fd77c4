import type { ModelDescriptor } from '../../domain/descriptor.js';
import { heldKeys } from '../../domain/natural-key.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import type { WriteGroup } from '../shard-store.js';

/** What inserts into one table do with rows whose unique values are taken: they leave them out. */
export interface ConflictTarget {
  /** Behind `ON CONFLICT`: the columns of the one constraint meant, or nothing for all of them. */
  readonly target: string;
  /** Error of a plan that is left out; undefined if only the plan alone can tell which constraint refuses it. */
  readonly refusal: DriverFailure | undefined;
}

/** By table. */
export type ConflictTargets = ReadonlyMap<string, ConflictTarget>;

interface Contested {
  readonly target: ConflictTarget;
  /** Names of violated constraints. */
  readonly constraints: ReadonlySet<string>;
  /** Statements since the last one that left a plan out. */
  quiet: number;
}

/** After so many statements without a conflict, a table's inserts are plain again. */
const QUIET_STATEMENTS = 256;

const INDEX = `
SELECT i.indimmediate, pg_get_expr(i.indpred, i.indrelid),
  ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnkeyatts) AS k ORDER BY k)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND i.indisunique`;

const UNIQUE_VIOLATION = '23505';

/**
 * Knows the tables of one shard into which callers insert unique values that are taken. One such insert fails the whole
 * statement that it travels in, and finding the guilty plan takes several more. Once a table has been violated, its inserts leave
 * such rows out instead, and the statement says whose they were: a refused plan then costs what an applied one does.
 */
export class UniqueConflicts {
  readonly #database: ShardDatabase;
  readonly #contested = new Map<string, Contested>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** For the tables that these groups insert into; undefined if all inserts are plain. */
  targetsOf(groups: readonly WriteGroup[]): ConflictTargets | undefined {
    if (this.#contested.size === 0 || groups.length === 1) return undefined;
    const targets = new Map<string, ConflictTarget>();
    for (const group of groups) {
      let inserts = 0;
      for (const table of addedTables(group)) {
        const contested = this.#contested.get(table);
        if (contested === undefined) continue;
        // One of two rows would be inserted although the other one is refused.
        inserts += 1;
        if (inserts > 1 || mayHandOver(group, table)) return undefined;
        targets.set(table, contested.target);
      }
    }
    return targets.size === 0 ? undefined : targets;
  }

  /** A statement with these groups has failed. True if it may be sent again, and will then leave out what is refused. */
  async learn(groups: readonly WriteGroup[], error: unknown, options?: CallOptions): Promise<boolean> {
    const violation = violationOf(error);
    if (violation === undefined || groups.length === 1) return false;
    const { schema, table, constraint } = violation;
    const model = groups.flatMap((group) => addedModels(group)).find((added) => added.table === table);
    const known = this.#contested.get(table);
    if (model === undefined || known?.constraints.has(constraint) === true) return false;
    const constraints = new Set([...(known?.constraints ?? []), constraint]);
    const target =
      constraints.size > 1
        ? { target: '', refusal: undefined }
        : // The violation says more than why the catalog cannot be read.
          await this.#targetOf({ schema, table, constraint }, options).catch(() => undefined);
    if (target === undefined) return false;
    this.#contested.set(table, { target, constraints, quiet: 0 });
    return this.targetsOf(groups) !== undefined;
  }

  /** A statement with these targets has been answered. @param refused whether it has left plans out */
  answered(targets: ConflictTargets, refused: boolean): void {
    for (const table of targets.keys()) {
      const contested = this.#contested.get(table);
      if (contested === undefined) continue;
      contested.quiet = refused ? 0 : contested.quiet + 1;
      if (contested.quiet >= QUIET_STATEMENTS) this.#contested.delete(table);
    }
  }

  /** A statement with these targets has failed: it may be because of them, say of an index that is gone. */
  failed(targets: ConflictTargets, error: unknown): void {
    const isRefusal = error instanceof DriverFailure && error.phase === 'answered';
    if (!isRefusal || violationOf(error) !== undefined) return;
    const meaning = error.sqlState === undefined ? undefined : sqlStateMeaning(error.sqlState);
    if (meaning === 'other') for (const table of targets.keys()) this.#contested.delete(table);
  }

  async #targetOf(violation: Violation, options?: CallOptions): Promise<ConflictTarget | undefined> {
    const { schema, table, constraint } = violation;
    const { rows } = await this.#database.query(
      { text: INDEX, values: [schema, constraint] },
      options?.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs },
    );
    const [isImmediate, predicate, columns] = rows[0] ?? [];
    if (isImmediate !== true || !Array.isArray(columns)) return undefined;
    const where = typeof predicate === 'string' ? ` WHERE ${predicate}` : '';
    return {
      target: `(${columns.join(', ')})${where}`,
      refusal: new DriverFailure(`duplicate key value violates unique constraint "${constraint}"`, {
        phase: 'answered',
        sqlState: UNIQUE_VIOLATION,
        ...{ schema, table, constraint },
      }),
    };
  }
}

interface Violation {
  readonly schema: string;
  readonly table: string;
  readonly constraint: string;
}

function violationOf(error: unknown): Violation | undefined {
  if (!(error instanceof DriverFailure) || error.phase !== 'answered') return undefined;
  const { sqlState, schema, table, constraint } = error;
  if (sqlState !== UNIQUE_VIOLATION || schema === undefined || table === undefined) return undefined;
  return constraint === undefined ? undefined : { schema, table, constraint };
}

/** What is inserted may take a natural key that an update of the group gives up, which comes later in such a statement. */
function mayHandOver(group: WriteGroup, table: string): boolean {
  return group.some(({ items }) =>
    items.some((item) => {
      if (item.kind !== 'update' || item.heldBefore === undefined || item.descriptor.table !== table)
        return false;
      const kept = heldKeys(item.model);
      return item.heldBefore.some((key) => !kept.includes(key));
    }),
  );
}

function addedModels(group: WriteGroup): readonly ModelDescriptor[] {
  return group.flatMap(({ items }) =>
    items.flatMap(({ kind, descriptor }) => (kind === 'add' ? [descriptor] : [])),
  );
}

function addedTables(group: WriteGroup): readonly string[] {
  return addedModels(group).map(({ table }) => table);
}
