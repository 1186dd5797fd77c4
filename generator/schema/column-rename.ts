/** A column rename in progress: processes of the previous release still write the old name. */
export interface ColumnRename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

/** The part of a rename that one migration does. */
export interface RenameStep extends ColumnRename {
  readonly step: 'begins' | 'ends';
}

/** The command that writes such migrations, as their texts name it. */
export const RENAME_COMMAND = 'fw-gen migrate rename';

const STEP = /^-- fw-gen migrate rename (begins|ends): (\S+)\.(\S+) -> (\S+)$/gm;

/** Returns the comment that identifies a migration of a rename, whatever its file name. */
export function stepComment({ table, from, to, step }: RenameStep): string {
  return `-- fw-gen migrate rename ${step}: ${encodedName(table)}.${encodedName(from)} -> ${encodedName(to)}`;
}

/** Returns the rename steps in the texts of migrations, in order. */
export function renameSteps(texts: readonly string[]): readonly RenameStep[] {
  return texts.flatMap((text) =>
    [...text.matchAll(STEP)].map(([, step, table = '', from = '', to = '']) => ({
      step: step === 'begins' ? 'begins' : 'ends',
      table: decodeURIComponent(table),
      from: decodeURIComponent(from),
      to: decodeURIComponent(to),
    })),
  );
}

/** Returns renames that have begun and not ended. */
export function openRenames(steps: readonly RenameStep[]): readonly ColumnRename[] {
  return steps.filter(
    (begun, index) =>
      begun.step === 'begins' &&
      !steps.slice(index + 1).some((later) => later.step === 'ends' && isSameRename(later, begun)),
  );
}

export function isSameRename(a: ColumnRename, b: ColumnRename): boolean {
  return a.table === b.table && a.from === b.from && a.to === b.to;
}

/** Encodes white space and dots of a name. */
function encodedName(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}
