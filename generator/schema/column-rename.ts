/** A column rename in progress: processes of the previous release still write the old name. */
export interface ColumnRename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

/** The command that writes such migrations, as their texts name it. */
export const RENAME_COMMAND = 'fw-gen migrate rename';

const STEP = /^-- fw-gen migrate rename (begins|ends): (\S+)\.(\S+) -> (\S+)$/gm;

/** Returns the comment that identifies a migration of a rename, whatever its file name. */
export function stepComment(step: 'begins' | 'ends', { table, from, to }: ColumnRename): string {
  return `-- fw-gen migrate rename ${step}: ${encodedName(table)}.${encodedName(from)} -> ${encodedName(to)}`;
}

/** Returns the renames that have begun and not ended. @param texts of the migrations, in order */
export function openRenames(texts: readonly string[]): readonly ColumnRename[] {
  const open = new Map<string, ColumnRename>();
  for (const [, step, ...names] of texts.join('\n').matchAll(STEP)) {
    const [table = '', from = '', to = ''] = names.map(decodeURIComponent);
    if (step === 'begins') open.set(names.join(' '), { table, from, to });
    else open.delete(names.join(' '));
  }
  return [...open.values()];
}

/** Encodes white space and dots of a name. */
function encodedName(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}
