/** A position in a file. */
export interface SourceLocation {
  /** Path relative to the project folder, with forward slashes. */
  readonly file: string;
  /** From 1; undefined for a whole file or folder. */
  readonly line?: number;
  /** From 1, in UTF-16 code units. */
  readonly column?: number;
}

/** The import of a name by emitted code. */
export type Reference =
  /** An export of a source file, by project-relative path. */
  | { readonly kind: 'file'; readonly file: string; readonly name: string }
  /** An export of an installed package; `default` is its default export. */
  | { readonly kind: 'package'; readonly module: string; readonly name: string };

/** Returns a unique text for a reference. */
export function referenceKey(reference: Reference): string {
  return `${reference.kind === 'file' ? reference.file : reference.module}#${reference.name}`;
}
