import {
  type ClassDeclaration,
  type EnumDeclaration,
  type ExportDeclaration,
  type ImportDeclaration,
  type InterfaceDeclaration,
  Node,
  type SourceFile,
  type TypeAliasDeclaration,
  type VariableDeclaration,
} from 'ts-morph';
import type { Reference } from '../schema/location.js';
import type { ReadContext } from './read-context.js';
import { fileOf } from './source-files.js';

/** A declaration at the top level of a file. */
export type Declaration =
  | ClassDeclaration
  | InterfaceDeclaration
  | TypeAliasDeclaration
  | EnumDeclaration
  | VariableDeclaration;

/** What a name means where it stands. */
export type Resolved =
  /** Exported by this package, under this name whatever it is called locally. */
  | { readonly kind: 'framework'; readonly name: string }
  | { readonly kind: 'package'; readonly module: string; readonly name: string }
  /** In a file that this program emits; it need not exist yet. */
  | { readonly kind: 'generated'; readonly file: string; readonly name: string }
  | { readonly kind: 'declared'; readonly declaration: Declaration }
  /** Imported from a project file that does not exist or does not export it. */
  | { readonly kind: 'missing'; readonly specifier: string }
  /** Neither declared nor imported: a global such as `Date`. */
  | { readonly kind: 'global'; readonly name: string };

/** Name under which users import the runtime. */
export const PACKAGE_NAME = 'fw-actions';

/**
 * Resolves a name, which may be qualified by a namespace import (`fw.Model`), by following declarations and imports.
 * A declaration in the file shadows everything else.
 */
export function resolveName(context: ReadContext, source: SourceFile, name: string): Resolved {
  const dot = name.indexOf('.');
  if (dot >= 0) return resolveQualified(context, source, name.slice(0, dot), name.slice(dot + 1));
  const declaration = declarationIn(source, name);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  for (const statement of source.getImportDeclarations()) {
    const exportName = importedAs(statement, name);
    if (exportName !== undefined) {
      return resolveFrom(context, source, statement.getModuleSpecifierValue(), exportName, new Set());
    }
  }
  return { kind: 'global', name };
}

/** How emitted code can import a resolved name; undefined if it is not exported or no import at all. */
export function referenceTo(resolved: Resolved): Reference | undefined {
  switch (resolved.kind) {
    case 'framework':
      return { kind: 'package', module: PACKAGE_NAME, name: resolved.name };
    case 'package':
      return { kind: 'package', module: resolved.module, name: resolved.name };
    case 'generated':
      return { kind: 'file', file: resolved.file, name: resolved.name };
    case 'declared':
      return referenceToDeclaration(resolved.declaration);
    case 'missing':
    case 'global':
      return undefined;
  }
}

/** How emitted code can import a declaration; undefined if its file does not export it. */
export function referenceToDeclaration(declaration: Declaration): Reference | undefined {
  const name = exportedNameOf(declaration);
  return name === undefined ? undefined : { kind: 'file', file: fileOf(declaration), name };
}

/** The name that a declaration's file exports it by. */
function exportedNameOf(declaration: Declaration): string | undefined {
  const name = declaration.getName();
  if (name === undefined) return undefined;
  const statement = Node.isVariableDeclaration(declaration)
    ? declaration.getVariableStatement()
    : declaration;
  if (statement?.hasExportKeyword() && !statement.hasDefaultKeyword()) return name;
  for (const exports of declaration.getSourceFile().getExportDeclarations()) {
    if (exports.getModuleSpecifierValue() !== undefined) continue;
    const specifier = exports.getNamedExports().find((each) => each.getName() === name);
    const exported = specifier?.getAliasNode()?.getText() ?? specifier?.getName();
    if (exported !== undefined && exported !== 'default') return exported;
  }
  return undefined;
}

function declarationIn(source: SourceFile, name: string): Declaration | undefined {
  return (
    source.getClass(name) ??
    source.getInterface(name) ??
    source.getTypeAlias(name) ??
    source.getEnum(name) ??
    source.getVariableDeclaration(name)
  );
}

/** The export that an import statement binds to this local name. */
function importedAs(statement: ImportDeclaration, name: string): string | undefined {
  if (statement.getDefaultImport()?.getText() === name) return 'default';
  for (const specifier of statement.getNamedImports()) {
    if ((specifier.getAliasNode()?.getText() ?? specifier.getName()) === name) return specifier.getName();
  }
  return undefined;
}

function resolveQualified(context: ReadContext, source: SourceFile, head: string, rest: string): Resolved {
  const statement = source
    .getImportDeclarations()
    .find((each) => each.getNamespaceImport()?.getText() === head);
  if (statement === undefined) return { kind: 'global', name: `${head}.${rest}` };
  return resolveFrom(context, source, statement.getModuleSpecifierValue(), rest, new Set());
}

function resolveFrom(
  context: ReadContext,
  source: SourceFile,
  specifier: string,
  name: string,
  visited: Set<string>,
): Resolved {
  if (specifier === PACKAGE_NAME || specifier.startsWith(`${PACKAGE_NAME}/`))
    return { kind: 'framework', name };
  if (!/^\.\.?(\/|$)/.test(specifier)) return { kind: 'package', module: specifier, name };
  const target = context.sources.resolveImport(fileOf(source), specifier);
  if (isInside(target.file, context.paths.output)) return { kind: 'generated', file: target.file, name };
  const file = target.exists ? context.sources.load(target.file) : undefined;
  const found = file === undefined ? undefined : resolveExport(context, file, name, visited);
  return found ?? { kind: 'missing', specifier };
}

/** What a file exports under a name; `visited` ends circles of re-exports. */
function resolveExport(
  context: ReadContext,
  source: SourceFile,
  name: string,
  visited: Set<string>,
): Resolved | undefined {
  const key = `${fileOf(source)}#${name}`;
  if (visited.has(key)) return undefined;
  visited.add(key);
  const declaration = name === 'default' ? defaultExportOf(source) : declarationIn(source, name);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  for (const statement of source.getExportDeclarations()) {
    const found = resolveReExport(context, source, statement, name, visited);
    if (found !== undefined) return found;
  }
  return undefined;
}

function defaultExportOf(source: SourceFile): Declaration | undefined {
  return [...source.getClasses(), ...source.getInterfaces()].find((each) => each.hasDefaultKeyword());
}

function resolveReExport(
  context: ReadContext,
  source: SourceFile,
  statement: ExportDeclaration,
  name: string,
  visited: Set<string>,
): Resolved | undefined {
  const specifier = statement.getModuleSpecifierValue();
  const named = statement
    .getNamedExports()
    .find((each) => (each.getAliasNode()?.getText() ?? each.getName()) === name);
  if (named !== undefined) {
    return specifier === undefined
      ? resolveName(context, source, named.getName())
      : resolveFrom(context, source, specifier, named.getName(), visited);
  }
  if (
    specifier === undefined ||
    statement.hasNamedExports() ||
    statement.getNamespaceExport() !== undefined
  ) {
    return undefined;
  }
  const found = resolveFrom(context, source, specifier, name, visited);
  return found.kind === 'missing' ? undefined : found;
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}
