import { type ColumnRename, stepComment } from '../schema/column-rename.js';
import { COMPILE_OPTIONS, loadHandlebars, ownTemplateText } from './own-templates.js';
import { shortName, sqlLiteral, sqlName } from './print/sql.js';

/** The old column, as the present migrations create it. */
export interface RenamedColumn {
  /** As PostgreSQL spells it. */
  readonly type: string;
  readonly nullable: boolean;
  /** A check constraint refuses NaN and infinity. */
  readonly refusesNaN: boolean;
}

/**
 * Returns the SQL of one release of a rename. The first one adds the column and a trigger that keeps both columns equal,
 * whichever column a statement writes, and copies a thousand rows at a time; the second one drops the old column.
 */
export function renameSql(release: 'begin' | 'finish', rename: ColumnRename, column: RenamedColumn): string {
  const { table, from, to } = rename;
  const trigger = shortName(`rename_${table}_${from}_${to}`, 'rename');
  return loadHandlebars().compile(
    ownTemplateText(`rename/${release}`),
    COMPILE_OPTIONS,
  )({
    ...column,
    old: `${table}.${from}`,
    new: to,
    step: stepComment(release === 'begin' ? 'begins' : 'ends', rename),
    table: sqlName(table),
    from: sqlName(from),
    to: sqlName(to),
    trigger: sqlName(trigger),
    triggerLiteral: sqlLiteral(trigger),
    check: sqlName(shortName(`${trigger}_check`, 'check')),
  });
}
