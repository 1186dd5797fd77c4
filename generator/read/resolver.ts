import type { Reference } from '../schema/location.js';
import { ts } from './compiler.js';
import {
  type Binding,
  declarationIn,
  exportedNames,
  importPath,
  type Meaning,
  namesIn,
} from './module-names.js';
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
  return resolveIn({ context, meaning, visited: new Set() }, node.getSourceFile(), nameText(node));
}

/** The state of resolving one name. */
interface Search {
  readonly context: ReadContext;
  readonly meaning: Meaning;
  /** Stops cycles of re-exports. */
  readonly visited: Set<string>;
}

function resolveIn(search: Search, source: ts.SourceFile, name: string): Resolved {
  const declaration = declarationIn(source, name, search.meaning);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  const [head = '', ...members] = name.split('.');
  const binding = namesIn(source).imports.get(head);
  const isWhole = binding?.name === '*';
  if (binding !== undefined && !isWhole && members.length === 0) return resolveFrom(search, source, binding);
  const file = isWhole ? source : binding && moduleOf(search, source, binding);
  // `export * as money from './money.js'` in the imported module
  const whole = isWhole ? binding : file && namesIn(file).exports.get(binding?.name ?? '');
  return file !== undefined && whole?.name === '*' && members.length > 0
    ? resolveFrom(search, file, { ...whole, name: members.join('.') })
    : { kind: 'global', name };
}

function moduleOf({ context }: Search, source: ts.SourceFile, { specifier = '' }: Binding) {
  const path = importPath(specifier, fileOf(source));
  return path === undefined ? undefined : context.sources.loadImport(path);
}

/** Resolves what an import or export of a file names. */
function resolveFrom(search: Search, source: ts.SourceFile, { specifier, name }: Binding): Resolved {
  if (specifier === undefined) return resolveIn(search, source, name);
  const { context } = search;
  const relative = importPath(specifier, fileOf(source));
  if (relative === undefined && isThisPackage(specifier)) return { kind: 'framework', name };
  const path = relative ?? context.modules.locate(specifier, fileOf(source));
  if (path === undefined) return { kind: 'package', module: specifier, name };
  if (path.startsWith(`${context.paths.output}/`)) {
    // Emitted files need not exist yet.
    return { kind: 'generated', file: path.replace(/(\.js|\.ts)?$/, '.ts'), name };
  }
  const file = context.sources.loadImport(path);
  if (file === undefined) return { kind: 'missing', specifier, name: undefined };
  return resolveExport(search, file, name) ?? { kind: 'missing', specifier, name };
}

/** Resolves a name among the exports of a file. */
function resolveExport(search: Search, source: ts.SourceFile, name: string): Resolved | undefined {
  const key = `${fileOf(source)}#${name}`;
  if (search.visited.has(key)) return undefined;
  search.visited.add(key);
  const { exports, stars } = namesIn(source);
  // A file may export something else under the name of what it declares for itself.
  const named = exports.get(name);
  if (named !== undefined) return named.name === '*' ? undefined : resolveFrom(search, source, named);
  const declaration = declarationIn(source, name, search.meaning);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  let unknown: Resolved | undefined;
  for (const specifier of stars) {
    const found = resolveFrom(search, source, { specifier, name });
    // If the module of a star export lacks the name, the next star export is tried.
    if (found.kind === 'missing') continue;
    if (found.kind === 'declared') return found;
    // The names of a package and of an emitted file are not known.
    unknown ??= found;
  }
  return unknown;
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

/** How generated code can import a declaration; undefined if its file does not export it. The declared name is preferred. */
export function referenceToDeclaration(declaration: Declaration): Reference | undefined {
  const name = declaredName(declaration);
  if (name === undefined) return undefined;
  const names = exportedNames(declaration.getSourceFile(), name).filter((each) => each !== 'default');
  const exported = names.includes(name) ? name : names[0];
  return exported === undefined ? undefined : { kind: 'file', file: fileOf(declaration), name: exported };
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
