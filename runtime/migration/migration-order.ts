import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, MigrationOrderError } from '../errors.js';
import { readMigrationHeader, readTables, sharedTables } from '../migration-header.js';
import type { ShardSession } from '../sharding/shard-database.js';
import { SCHEMA } from './bootstrap.js';
import { checksumOf, type Migration } from './migration.js';

/** The owner of migrations. The two sets are ordered independently, so each has its own table. */
export type MigrationSet = 'framework' | 'application';

/** A row of `migration_checksums`. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  /** Its comment `-- fw-gen: tables` when it was applied; undefined: it had none. */
  readonly tables: readonly string[] | undefined;
}

/** A pending migration that cannot be applied after a later one. */
export interface Unordered {
  readonly pending: string;
  readonly applied: string;
  /** Tables that both touch; `unknown` if one of them does not declare its tables. */
  readonly tables: readonly string[] | 'unknown';
}

/** An applied migration that is unknown here, although a later one is known that may depend on it. */
interface Missing extends Pick<AppliedMigration, 'name' | 'tables'> {
  readonly later: Migration;
}

/** The known migrations of one set beside those that a database has run. */
export interface Comparison {
  /**
   * - `current`: no migration is missing, and there are no problems.
   * - `pending`: migrations are missing.
   * - `changed`: the applied migrations differ from the known ones.
   * - `unordered`: a missing migration must not be applied after a later one that was applied.
   */
  readonly state: 'current' | 'pending' | 'changed' | 'unordered';
  /** In the order of their names, which is the order of application. */
  readonly pending: readonly Migration[];
  /** Applied ones that this process does not know, and that nothing known here depends on. */
  readonly newer: readonly string[];
  /** One sentence per problem. */
  readonly problems: readonly string[];
  /** Why the state is `unordered`. */
  readonly unordered?: Unordered;
}

/** Reads what a database has run of a set. The table must exist. */
export async function readApplied(
  database: Pick<ShardSession, 'query'>,
  set: MigrationSet,
): Promise<readonly AppliedMigration[]> {
  const text = `select name, checksum, tables from ${SCHEMA}.migration_checksums where migration_set = $1`;
  const { rows } = await database.query({ text, values: [set] });
  return rows.map(([name, checksum, tables]) => ({
    name: String(name),
    checksum: String(checksum),
    tables: typeof tables === 'string' ? readTables(tables) : undefined,
  }));
}

/**
 * Compares by name. Branches that are merged bring migrations whose names are before others that a database has already
 * run. Such a migration is applied late if it touches other tables than the later ones. In the same way, an unknown
 * migration is accepted if it is later than all known ones, or touches other tables than the known ones after it: a newer
 * release has applied it, while this process still runs.
 */
export function compareMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): Comparison {
  const present = new Map(applied.map((each) => [each.name, each]));
  const texts = new Map(known.map((each) => [each.name, each]));
  const sorted = [...known].sort(byName);
  const pending = sorted.filter(({ name }) => !present.has(name));
  const unknown = applied.filter(({ name }) => !texts.has(name)).sort(byName);
  const missing = unknown.flatMap(({ name, tables }) => {
    const later = sorted.find((each) => each.name > name && sharedTables(tables, tablesOf(each)).length > 0);
    return later === undefined ? [] : [{ name, tables, later }];
  });
  const changed = sorted.filter((each) => {
    const found = present.get(each.name);
    if (found === undefined || found.checksum === checksumOf(each)) return false;
    const { replaces = [] } = readMigrationHeader(each.up);
    return !replaces.some((former) => found.checksum.startsWith(former));
  });
  const differences = [
    ...changed.map(({ name }) => describeChanged(name, present.get(name)?.checksum ?? '')),
    ...missing.map(describeMissing),
  ];
  const unordered = firstUnordered(pending, applied, texts);
  return {
    state: stateOf(differences.length > 0, unordered !== undefined, pending.length > 0),
    pending,
    newer: unknown.map(({ name }) => name).filter((name) => !missing.some((each) => each.name === name)),
    problems: unordered === undefined ? differences : [...differences, describeUnordered(unordered)],
    ...(unordered !== undefined && { unordered }),
  };
}

function describeChanged(name: string, checksum: string): string {
  return (
    `${name} was changed after it had been applied: restore its text, which had the checksum ${checksum.slice(0, 12)}, and ` +
    'put the change into a new migration. If its text fails on another shard, see docs/migrations.md, ' +
    '"A migration that fails on one shard"'
  );
}

function describeMissing({ name, tables, later }: Missing): string {
  const restore = `${name} was applied, but is missing here: restore it`;
  if (tables === undefined || tablesOf(later) !== undefined) return restore;
  return `${restore}, or name the tables of ${later.name}, which is after it, in a comment "-- fw-gen: tables"`;
}

function stateOf(isChanged: boolean, isUnordered: boolean, isPending: boolean): Comparison['state'] {
  if (isChanged) return 'changed';
  if (isUnordered) return 'unordered';
  return isPending ? 'pending' : 'current';
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

function firstUnordered(
  pending: readonly Migration[],
  applied: readonly AppliedMigration[],
  texts: ReadonlyMap<string, Migration>,
): Unordered | undefined {
  for (const each of pending) {
    for (const later of applied.filter(({ name }) => name > each.name)) {
      const known = texts.get(later.name);
      const tables = sharedTables(tablesOf(each), known === undefined ? later.tables : tablesOf(known));
      if (tables.length > 0) return { pending: each.name, applied: later.name, tables };
    }
  }
  return undefined;
}

function tablesOf({ up }: Migration): readonly string[] | undefined {
  return readMigrationHeader(up).tables;
}

/** @throws MigrationError, MigrationOrderError if the pending migrations must not be applied */
export function requireApplicable(
  { state, problems, unordered }: Pick<Comparison, 'problems' | 'unordered'> & { readonly state: string },
  shard: ShardIdentifier,
): void {
  if (state === 'changed') throw new MigrationError(`Shard ${shard}: ${problems.join('; ')}`);
  if (unordered !== undefined)
    throw new MigrationOrderError(describeUnordered(unordered), { shard: shard.toString(), ...unordered });
}

/** What is wrong with the order, and what to do. */
function describeUnordered({ pending, applied, tables }: Unordered): string {
  const both =
    tables === 'unknown' ? 'one of them does not declare its tables' : `both touch ${tables.join(', ')}`;
  return (
    `migration ${applied} was applied without ${pending}, which is before it, and ${both}. If the two do not depend on ` +
    'each other, name their tables in comments "-- fw-gen: tables" above their first statements; otherwise let fw-gen ' +
    `write ${pending} again, under a name after ${applied} (docs/migrations.md, "Branches")`
  );
}
