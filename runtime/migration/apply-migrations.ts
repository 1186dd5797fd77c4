import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, messageOf } from '../errors.js';
import { DATABASE, endSpan, startSpan, within } from '../tracing.js';
import type { MigratingSession } from './migrating-session.js';
import { type Migration, runsInTransaction } from './migration.js';
import { compareMigrations, type MigrationSet, readApplied, requireApplicable } from './migration-order.js';
import { runAlone, runInTransaction } from './run-migration.js';

export interface MigrationTarget {
  readonly session: MigratingSession;
  readonly shard: ShardIdentifier;
  /** See `ShardDatabase.sessionState`. */
  readonly sessionState: boolean;
  readonly log: (message: string) => void;
  /** Receives the names of applied migrations, also of those before a failure. */
  readonly applied: string[];
}

/**
 * Applies missing migrations, each in its own transaction unless it declares otherwise.
 *
 * @throws MigrationError naming shard and migration
 * @throws MigrationOrderError if one would have to run after a later one that touches the same table
 */
export async function applyMigrations(
  target: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
): Promise<void> {
  requireDistinctNames(migrations);
  const { session, shard, log, applied } = target;
  const comparison = compareMigrations(migrations, await readApplied(session, set));
  requireApplicable(comparison, shard);
  for (const migration of comparison.pending) {
    if (!(await applyOne(target, set, migration))) continue;
    applied.push(migration.name);
    log(`Shard ${shard}: applied ${set} migration ${migration.name}`);
  }
}

const NEEDS_SESSION =
  'it runs outside of a transaction, which needs a direct connection to the server, not one through PgBouncer';

/** @returns false if another process has applied it meanwhile */
async function applyOne(
  { session, shard, sessionState }: MigrationTarget,
  set: MigrationSet,
  migration: Migration,
): Promise<boolean> {
  const { name } = migration;
  const attributes = { ...DATABASE, 'fw.shard': shard.toString(), 'fw.migration': name };
  const span = startSpan('migrate', { kind: 'CLIENT', attributes });
  try {
    const inTransaction = runsInTransaction(migration);
    if (!inTransaction && !sessionState) throw new MigrationError(NEEDS_SESSION);
    const run = inTransaction ? runInTransaction : runAlone;
    const isApplied = await within(span, () => run(session, set, migration));
    endSpan(span);
    return isApplied;
  } catch (cause) {
    endSpan(span, cause);
    throw new MigrationError(`Migration ${name} failed on shard ${shard}: ${messageOf(cause)}`, { cause });
  }
}

function requireDistinctNames(migrations: readonly Migration[]): void {
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new MigrationError(`Two migrations are named ${name}`);
    names.add(name);
  }
}
