import { sharedTables } from '../../runtime/migration-header.js';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';
import { RENAME_COMMAND } from '../schema/column-rename.js';
import type { MigrationFile } from '../schema/project-schema.js';

/**
 * Reports migrations that databases may have run in different orders although they touch the same table: two branches
 * wrote them, and were merged.
 *
 * @param migrations sorted by name
 */
export function checkMigrationOrder(migrations: readonly MigrationFile[]): readonly Diagnostic[] {
  return migrations.flatMap((later, index) =>
    migrations
      .slice(0, index)
      .filter((earlier) => isWrittenWithout(later, earlier))
      .flatMap((earlier) => conflict(later, earlier))
      .slice(0, 1),
  );
}

/** Whether the earlier one did not exist when the later one was written. */
function isWrittenWithout(later: MigrationFile, earlier: MigrationFile): boolean {
  return later.after === undefined
    ? numberOf(later.name) === numberOf(earlier.name)
    : compareText(earlier.name, later.after) > 0;
}

function numberOf(name: string): string {
  return /^\d+/.exec(name)?.[0] ?? name;
}

function conflict(later: MigrationFile, earlier: MigrationFile): readonly Diagnostic[] {
  const tables = sharedTables(earlier.tables, later.tables);
  if (tables.length === 0) return [];
  const silent = earlier.tables === undefined ? earlier : later;
  const both = tables === 'unknown' ? `${silent.name} declares no tables` : `both touch ${tables.join(', ')}`;
  const apart =
    tables === 'unknown'
      ? 'declare its tables above its first statement, such as `-- fw-gen: tables notes`'
      : 'leave the table out of the comment `-- fw-gen: tables` of one of them';
  const message = `A database may have run this migration without ${earlier.name}, which is before it, and ${both}`;
  const renames = [earlier, later].filter(({ up }) => up.includes(RENAME_COMMAND));
  const again = renames.map(
    ({ name }) =>
      ` ${name} renames a column: delete all files of that release, and run \`${RENAME_COMMAND}\` again, because ` +
      '`fw-gen migrate diff` would add an empty column and leave the values in the old one.',
  );
  const hint =
    'Write the one that no shared database has run again, under a later name: delete its file, and run `fw-gen ' +
    `generate\` or \`fw-gen migrate diff\`.${again.join('')} If they do not depend on each other, ${apart}.`;
  return [diagnostic('FWGEN064', { file: later.file }, message, hint)];
}
