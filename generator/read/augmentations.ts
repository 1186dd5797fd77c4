import { ts } from './compiler.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';
import { type Declaration, resolveImportType } from './resolver.js';
import { fileOf } from './source-files.js';
import { declaredName } from './syntax.js';

/** An interface in `declare module './file.js'`, which adds members to a declaration of that file. */
export interface Augmentation {
  readonly node: ts.InterfaceDeclaration;
  /** The interface or class that receives the members. */
  readonly target: Declaration;
}

const MODULE_BLOCK = /\bdeclare\s+module\s+['"]\.\.?\//;

/** Whether a file with this text may add members to declarations of other files. */
export function mayAugment(text: string): boolean {
  return text.includes('declare') && MODULE_BLOCK.test(text);
}

/** Returns the members that a file adds to declarations of other project files. Blocks for packages are skipped. */
export function augmentationsIn(context: ReadContext, source: ts.SourceFile): readonly Augmentation[] {
  const found: Augmentation[] = [];
  for (const statement of source.statements) {
    if (!ts.isModuleDeclaration(statement) || !ts.isStringLiteral(statement.name)) continue;
    if (statement.body === undefined || !ts.isModuleBlock(statement.body)) continue;
    for (const node of statement.body.statements) {
      if (!ts.isInterfaceDeclaration(node)) continue;
      const resolved = resolveImportType(context, source, statement.name.text, node.name.text);
      if (resolved.kind === 'declared') found.push({ node, target: resolved.declaration });
    }
  }
  return found;
}

/**
 * Returns the interfaces that the compiler merges with a declaration: those of its name in its file, then
 * augmentations.
 */
export function interfacesOf(
  context: ReadContext,
  node: ts.InterfaceDeclaration | ts.ClassDeclaration,
): readonly ts.InterfaceDeclaration[] {
  const name = node.name?.text ?? '';
  const own = moduleIndex(node.getSourceFile()).interfaces.get(name);
  return [
    ...(own ?? (ts.isInterfaceDeclaration(node) ? [node] : [])),
    ...context.sources
      .augmentersOf(fileOf(node))
      .flatMap((file) => addedBy(context, file, { file: fileOf(node), name })),
  ];
}

function addedBy(
  context: ReadContext,
  augmenter: string,
  { file, name }: { readonly file: string; readonly name: string },
): readonly ts.InterfaceDeclaration[] {
  const source = context.sources.load(augmenter);
  if (source === undefined) return [];
  return augmentationsIn(context, source)
    .filter(({ target }) => fileOf(target) === file && declaredName(target) === name)
    .map(({ node }) => node);
}
