import { ts } from './compiler.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';
import { type Declaration, resolveImportType } from './resolver.js';
import { fileOf } from './source-files.js';
import { declaredName } from './syntax.js';

/** An interface in `declare module './file.js'`, which adds members to one of that file. */
export interface Augmentation {
  readonly node: ts.InterfaceDeclaration;
  /** What the members are added to: an interface, or a class. */
  readonly target: Declaration;
}

const MODULE_BLOCK = /\bdeclare\s+module\s+['"]\.\.?\//;

/** True for the text of a file that may add members to declarations of other files. */
export function mayAugment(text: string): boolean {
  return text.includes('declare') && MODULE_BLOCK.test(text);
}

/** What a file adds to declarations of other files of this project. Blocks for packages are skipped. */
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

/** Every declaration that the compiler merges with this one: interfaces of its name in its file, then those added. */
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
