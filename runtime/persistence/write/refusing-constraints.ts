import type { ModelDescriptor } from '../../domain/entity.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import type { WriteGroup } from '../shard-store.js';
import { readRowCheck, violationOf } from './read-row-check.js';
import type { RowCheck, RowChecks } from './row-check.js';

interface Contested {
  readonly checks: readonly RowCheck[];
  /** Statements since the last one that left a plan out. */
  quiet: number;
}

/** Number of statements without a refusal after which a table's rows are written unchecked again. */
const QUIET_STATEMENTS = 256;

const ORDER = ['check', 'unique', 'reference'] as const;

/**
 * Finds the constraints of one shard that refuse rows. One refused row fails its whole statement, and several more
 * statements are needed to find the plan. After a constraint has refused a statement, later statements evaluate it
 * before they write, and report the plans that it refuses. A refused plan then costs as much as an applied one.
 */
export class RefusingConstraints {
  readonly #database: ShardDatabase;
  readonly #contested = new Map<string, Contested>();

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** The checks of the tables that these groups write to; undefined if there are none. */
  checksOf(groups: readonly WriteGroup[]): RowChecks | undefined {
    if (this.#contested.size === 0 || groups.length === 1) return undefined;
    const found = new Map<string, readonly RowCheck[]>();
    for (const { table } of writtenModels(groups)) {
      const contested = this.#contested.get(table);
      if (contested !== undefined) found.set(table, contested.checks);
    }
    return found.size === 0 ? undefined : found;
  }

  /**
   * Must be called when a statement with these groups has failed. True if it can be sent again with a check that leaves
   * out the refused plans.
   *
   * @param used the checks of the failed statement
   */
  async learn(
    groups: readonly WriteGroup[],
    used: RowChecks | undefined,
    error: unknown,
    options?: CallOptions,
  ): Promise<boolean> {
    if (groups.length === 1) return false;
    if (used !== undefined && isFault(error)) return this.#forget(used);
    const violation = violationOf(error);
    const model = violation && modelOf(groups, violation);
    if (violation === undefined || model === undefined) return false;
    const isThis = ({ constraint }: RowCheck): boolean => constraint === violation.constraint;
    const known = this.#contested.get(model.table)?.checks ?? [];
    const before = used?.get(model.table)?.find(isThis);
    if (before === undefined && known.some(isThis)) return true;
    // The violation is the more useful error than the failure of the catalog query.
    const check = await readRowCheck(this.#database, model, violation, options).catch(() => undefined);
    if (check === undefined) return false;
    // Another process has changed the table, or the server decides differently.
    if (before !== undefined && before.oid === check.oid && before.version === check.version) return false;
    const latest = this.#contested.get(model.table)?.checks ?? [];
    const checks = [...latest.filter((other) => !isThis(other)), check].sort(byOrder);
    this.#contested.set(model.table, { checks, quiet: 0 });
    return true;
  }

  /** Must be called after a statement with these checks. @param refused whether it has left plans out */
  answered(used: RowChecks, refused: boolean): void {
    for (const table of used.keys()) {
      const contested = this.#contested.get(table);
      if (contested === undefined) continue;
      contested.quiet = refused ? 0 : contested.quiet + 1;
      if (contested.quiet >= QUIET_STATEMENTS) this.#contested.delete(table);
    }
  }

  #forget(used: RowChecks): true {
    for (const table of used.keys()) this.#contested.delete(table);
    return true;
  }
}

/** Whether the statement itself is invalid. Its checks may be the cause, for example a check of a dropped column. */
function isFault(error: unknown): boolean {
  if (!(error instanceof DriverFailure) || error.phase !== 'answered') return false;
  return error.sqlState !== undefined && sqlStateMeaning(error.sqlState) === 'other';
}

function modelOf(
  groups: readonly WriteGroup[],
  { schema, table }: { readonly schema: string; readonly table: string },
): ModelDescriptor | undefined {
  const names = [table, `${schema}.${table}`];
  return [...writtenModels(groups)].find((model) => names.includes(model.table));
}

function byOrder(a: RowCheck, b: RowCheck): number {
  const order = ORDER.indexOf(a.condition.kind) - ORDER.indexOf(b.condition.kind);
  return order === 0 ? Number(a.constraint > b.constraint) - Number(a.constraint < b.constraint) : order;
}

function writtenModels(groups: readonly WriteGroup[]): ReadonlySet<ModelDescriptor> {
  const models = new Set<ModelDescriptor>();
  for (const plans of groups)
    for (const { items } of plans)
      for (const { kind, descriptor } of items) if (kind !== 'expect') models.add(descriptor);
  return models;
}
