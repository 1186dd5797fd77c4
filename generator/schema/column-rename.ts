/** A column that is renamed while processes of the previous release keep writing the old name. */
export interface ColumnRename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

/** What one migration does for a rename. */
export interface RenameStep extends ColumnRename {
  readonly step: 'begins' | 'ends';
}

const STEP = /^-- fw-gen migrate rename (begins|ends): (\S+)\.(\S+) -> (\S+)$/gm;

/** The comment by which later runs recognize a migration of a rename, whatever its file is called. */
export function stepComment({ table, from, to, step }: RenameStep): string {
  return `-- fw-gen migrate rename ${step}: ${word(table)}.${word(from)} -> ${word(to)}`;
}

/** The steps that the texts of migrations take, in their order. */
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

/** Renames that have begun and not ended. */
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

/** A name without white space and dots. */
function word(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}
