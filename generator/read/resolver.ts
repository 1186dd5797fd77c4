import type { Reference } from '../schema/location.js';
import { ts } from './compiler.js';
import {
  declarationIn,
  type ImportBinding,
  importPath,
  type Meaning,
  type ModuleReference,
  moduleIndex,
} from './module-index.js';
import type { ReadContext } from './read-context.js';
import { fileOf } from './source-files.js';
import { bareExpression, type Declaration, declaredName, nameText } from './syntax.js';
import { isThisPackage } from './types/framework-surface.js';

export type { Declaration } from './syntax.js';

/** The meaning of a name in its scope. */
export type Resolved =
  /** Exported by this package under this name; the local name may differ. */
  | { readonly kind: 'framework'; readonly name: string }
  | { readonly kind: 'package'; readonly module: string; readonly name: string }
  /** In a file that the generator emits. It need not exist yet. */
  | { readonly kind: 'generated'; readonly file: string; readonly name: string }
  | { readonly kind: 'declared'; readonly declaration: Declaration }
  /** Imported from a project file that does not export `name`, or, without `name`, does not exist. */
  | { readonly kind: 'missing'; readonly specifier: string; readonly name: string | undefined }
  /** Neither declared nor imported: a global such as `Date`. */
  | { readonly kind: 'global'; readonly name: string };

/** Name under which users import the runtime. */
export const PACKAGE_NAME = 'fw-actions';

/**
 * Resolves a name, which may be qualified by a namespace import (`fw.Model`), by following declarations and imports.
 * A declaration in the file shadows everything else.
 */
export function resolveName(context: ReadContext, node: ts.Node, meaning: Meaning = 'type'): Resolved {
  return resolveIn(context, node.getSourceFile(), nameText(node), meaning);
}

function resolveIn(context: ReadContext, source: ts.SourceFile, name: string, meaning: Meaning): Resolved {
  const dot = name.indexOf('.');
  if (dot >= 0) return resolveQualified(context, source, [name.slice(0, dot), name.slice(dot + 1)], meaning);
  const declaration = declarationIn(source, name, meaning);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  const binding = moduleIndex(source).imports.get(name);
  if (binding === undefined || binding.name === '*') return { kind: 'global', name };
  return resolveFrom(context, binding.from, binding.name, meaning);
}

/** Whether a node names a type or a value of this package. */
export function isOfFramework(context: ReadContext, node: ts.Node, name: string): boolean {
  const resolved = resolveName(context, node);
  return resolved.kind === 'framework' && resolved.name === name;
}

/** The result of resolving an expression, with the type arguments found on the way. */
export interface ResolvedExpression {
  readonly resolved: Resolved;
  readonly typeArguments: readonly ts.TypeNode[];
  /** The expression itself, or the value of the last constant that was followed. */
  readonly expression: ts.Expression;
}

/**
 * Resolves an expression that is a name. Constants (`const Base = Model;`) are followed to the names in their
 * initializers.
 */
export function resolveExpression(
  context: ReadContext,
  node: ts.Expression,
  followed = 0,
): ResolvedExpression {
  const bare = bareExpression(node);
  const isInstantiation = ts.isExpressionWithTypeArguments(bare);
  const expression = isInstantiation ? bare.expression : bare;
  const typeArguments = (isInstantiation ? bare.typeArguments : undefined) ?? [];
  const resolved = resolveName(context, expression, 'value');
  const value = declaredVariable(resolved)?.initializer;
  if (value === undefined || followed === MOST_CONSTANTS) return { resolved, typeArguments, expression };
  const next = resolveExpression(context, value, followed + 1);
  return typeArguments.length > 0 ? { ...next, typeArguments } : next;
}

/** Maximum length of a chain of constants; a longer chain is a cycle. */
const MOST_CONSTANTS = 8;

/** How generated code can import a resolved name; undefined if the name is not exported or needs no import. */
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

/** How generated code can import a declaration; undefined if its file does not export it. */
export function referenceToDeclaration(declaration: Declaration): Reference | undefined {
  const name = exportedNameOf(declaration);
  return name === undefined ? undefined : { kind: 'file', file: fileOf(declaration), name };
}

/** The name under which a file exports a declaration. The declared name is preferred. */
function exportedNameOf(declaration: Declaration): string | undefined {
  const name = declaredName(declaration);
  if (name === undefined) return undefined;
  const { exports } = moduleIndex(declaration.getSourceFile());
  if (exports.get(name) === name) return name;
  for (const [exported, local] of exports) {
    if (local === name && exported !== 'default') return exported;
  }
  return undefined;
}

function resolveQualified(
  context: ReadContext,
  source: ts.SourceFile,
  [head, rest]: readonly [string, string],
  meaning: Meaning,
): Resolved {
  const binding = moduleIndex(source).imports.get(head);
  const module =
    binding === undefined || binding.name === '*' ? binding?.from : namespaceOf(context, binding);
  return module === undefined
    ? { kind: 'global', name: `${head}.${rest}` }
    : resolveFrom(context, module, rest, meaning);
}

/**
 * Returns the module that a file re-exports as a whole (`export * as money from './money.js'`) under an imported name.
 */
function namespaceOf(context: ReadContext, { from, name }: ImportBinding): ModuleReference | undefined {
  const path = importPath(from);
  const file = path === undefined ? undefined : context.sources.loadImport(path);
  if (file === undefined) return undefined;
  return moduleIndex(file).reExports.find(({ names }) => names?.get(name) === '*')?.from;
}

function resolveFrom(
  context: ReadContext,
  module: ModuleReference,
  name: string,
  meaning: Meaning,
  visited: Set<string> = new Set(),
): Resolved {
  const { specifier } = module;
  const relative = importPath(module);
  if (relative === undefined && isThisPackage(specifier)) return { kind: 'framework', name };
  const path = relative ?? context.modules.locate(specifier, module.file);
  if (path === undefined) return { kind: 'package', module: specifier, name };
  if (path.startsWith(`${context.paths.output}/`)) {
    // Emitted files need not exist yet.
    return { kind: 'generated', file: path.replace(/(\.js|\.ts)?$/, '.ts'), name };
  }
  const file = context.sources.loadImport(path);
  if (file === undefined) return { kind: 'missing', specifier, name: undefined };
  return resolveExport(context, file, { name, meaning }, visited) ?? { kind: 'missing', specifier, name };
}

/** Resolves a name among the exports of a file; `visited` stops cycles of re-exports. */
function resolveExport(
  context: ReadContext,
  source: ts.SourceFile,
  { name, meaning }: { readonly name: string; readonly meaning: Meaning },
  visited: Set<string>,
): Resolved | undefined {
  const key = `${fileOf(source)}#${name}`;
  if (visited.has(key)) return undefined;
  visited.add(key);
  const { exports, defaultExport, reExports } = moduleIndex(source);
  const declaration = name === 'default' ? defaultExport : declarationIn(source, name, meaning);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  const local = exports.get(name);
  if (local !== undefined) return resolveIn(context, source, local, meaning);
  for (const { from, names } of reExports) {
    const original = names === undefined ? name : names.get(name);
    if (original === undefined) continue;
    const found = resolveFrom(context, from, original, meaning, visited);
    // If the module of a star export lacks the name, the next star export is tried.
    if (names !== undefined || found.kind !== 'missing') return found;
  }
  return undefined;
}

/** The class that a name means, if this project declares it. */
export function classOf(resolved: Resolved): ts.ClassDeclaration | undefined {
  const declaration = resolved.kind === 'declared' ? resolved.declaration : undefined;
  return declaration !== undefined && ts.isClassDeclaration(declaration) ? declaration : undefined;
}

/** The variable that a name means, if this project declares it. */
export function declaredVariable(resolved: Resolved): ts.VariableDeclaration | undefined {
  const declaration = resolved.kind === 'declared' ? resolved.declaration : undefined;
  return declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration : undefined;
}
