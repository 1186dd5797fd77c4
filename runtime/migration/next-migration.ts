import { MigrationError, messageOf } from '../errors.js';
import type { DatabaseAdapter } from '../sharding/database-adapter.js';
import type { Migration } from './migration.js';
import {
  type ChangePermissions,
  type PlannedChanges,
  planChanges,
  type WantedTable,
} from './plan-changes.js';
import { withReplay } from './replay.js';

export interface NextMigrationOptions extends ChangePermissions {
  /** The adapter of the embedded database. */
  readonly embedded: DatabaseAdapter;
  /** Quotes a name for SQL. */
  readonly quote: (name: string) => string;
}

/**
 * The changes from the schema of the migrations to the tables that the models require. They were tried out; what
 * fails on empty tables is a refusal.
 *
 * @param migrations sorted by name
 * @throws MigrationError if one of them fails
 */
export function planNextMigration(
  migrations: readonly Migration[],
  wanted: readonly WantedTable[],
  { embedded, quote, ...permissions }: NextMigrationOptions,
): Promise<PlannedChanges> {
  return withReplay(embedded, async (replay) => {
    const schema = await replay.run(migrations);
    const planned = planChanges(wanted, schema, permissions, quote);
    const { statements, refusals } = planned;
    const notes = [...planned.notes, ...leftOverTables(migrations, wanted)];
    const up = statements.join(';\n');
    if (up === '' || refusals.length > 0) return { ...planned, notes };
    try {
      await replay.run([...migrations, { name: `${migrations.at(-1)?.name}_next`, up }]);
      return { ...planned, notes };
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      const failure = messageOf(error.cause ?? error);
      const values =
        permissions.backfill.size === 0
          ? ''
          : "A value of --backfill is SQL without columns; a text has quotes: 'en'. ";
      return {
        ...planned,
        notes,
        refusals: [`The migration would fail: ${failure}. ${values}Write it yourself.`],
      };
    }
  });
}

/** Notes on tables that `fw-gen generate` has created for models that are gone, or have another table now. */
function leftOverTables(migrations: readonly Migration[], wanted: readonly WantedTable[]): readonly string[] {
  const models = new Set(wanted.map(({ table }) => table));
  const created = migrations.flatMap(({ name }) => /_create_(.+)$/.exec(name)?.[1] ?? []);
  return created
    .filter((table) => !models.has(table))
    .map(
      (table) =>
        `no model has the table ${table}; unless a migration has dropped it, it is kept with its rows. If its model has ` +
        'another table now, move them in a migration of your own',
    );
}
