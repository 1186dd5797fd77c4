import { posix } from 'node:path';
import type { Reference } from '../schema/location.js';
import { exportsOf, localsOf, symbolNamed, ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { fileOf } from './source-files.js';
import {
  bareExpression,
  type Declaration,
  declaredName,
  isDeclaration,
  isValueDeclaration,
  nameText,
} from './syntax.js';
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

/** The kind of meaning that is looked up: a constant and a type may have the same name. */
type Meaning = 'type' | 'value';

/** Name under which users import the runtime. */
export const PACKAGE_NAME = 'fw-actions';

/** Project-relative path of a relative specifier, with its extension as written; undefined for other specifiers. */
export function importPath(specifier: string, file: string): string | undefined {
  return /^\.\.?(\/|$)/.test(specifier) ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** What a part of an import or export statement names. */
interface Binding {
  /** Undefined for `export { name }`, which names what its file declares or imports. */
  readonly specifier: string | undefined;
  /** The name in that module, `default`, or `*` for the whole module. */
  readonly name: string;
}

/** Returns what the part of an import or export statement names that declares a symbol. */
export function bindingOf(symbol: ts.Symbol | undefined): Binding | undefined {
  return symbol?.declarations?.map(bindingIn).find((each) => each !== undefined);
}

function bindingIn(node: ts.Node): Binding | undefined {
  const statement = ts.findAncestor(
    node,
    (each) => ts.isImportDeclaration(each) || ts.isExportDeclaration(each),
  );
  if (statement === undefined) return undefined;
  const { moduleSpecifier } = statement;
  const specifier = moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
  if (ts.isImportClause(node)) return { specifier, name: 'default' };
  const isPart = ts.isImportSpecifier(node) || ts.isExportSpecifier(node);
  return { specifier, name: isPart ? (node.propertyName ?? node.name).text : '*' };
}

/** Returns what a name means at the top level of a file: a class takes precedence over other types, these over values. */
export function declarationIn(
  source: ts.SourceFile,
  name: string,
  meaning: Meaning = 'type',
): Declaration | undefined {
  const symbol =
    name === 'default' ? symbolNamed(exportsOf(source), name) : symbolNamed(localsOf(source), name);
  const [first, ...others] = symbol?.declarations?.filter(isDeclaration) ?? [];
  if (first === undefined || others.length === 0) return first;
  const all = [first, ...others];
  const value = all.find((each) => ts.isVariableDeclaration(each) || ts.isFunctionDeclaration(each));
  const type = all.find(ts.isClassDeclaration) ?? all.find((each) => !isValueDeclaration(each)) ?? first;
  // A class is also the value of its name, whatever a namespace adds to it.
  return meaning === 'value' ? (value ?? type) : type;
}

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
  const dot = name.indexOf('.');
  const declaration = dot < 0 ? declarationIn(source, name, search.meaning) : undefined;
  if (declaration !== undefined) return { kind: 'declared', declaration };
  const binding = bindingOf(symbolNamed(localsOf(source), dot < 0 ? name : name.slice(0, dot)));
  if (binding === undefined || (dot < 0 && binding.name === '*')) return { kind: 'global', name };
  if (dot < 0) return resolveFrom(search, source, binding);
  const rest = name.slice(dot + 1);
  if (binding.name === '*') return resolveFrom(search, source, { ...binding, name: rest });
  // `export * as money from './money.js'` in the module
  const path = importPath(binding.specifier ?? '', fileOf(source));
  const file = path === undefined ? undefined : search.context.sources.loadImport(path);
  const whole = file && bindingOf(symbolNamed(exportsOf(file), binding.name));
  return file === undefined || whole?.name !== '*'
    ? { kind: 'global', name }
    : resolveFrom(search, file, { ...whole, name: rest });
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
  const declaration = declarationIn(source, name, search.meaning);
  if (declaration !== undefined) return { kind: 'declared', declaration };
  const exports = exportsOf(source);
  const named = bindingOf(symbolNamed(exports, name));
  if (named !== undefined) return named.name === '*' ? undefined : resolveFrom(search, source, named);
  for (const star of exports.get(ts.InternalSymbolName.ExportStar)?.declarations ?? []) {
    const found = resolveFrom(search, source, { specifier: bindingIn(star)?.specifier, name });
    // If the module of a star export lacks the name, the next star export is tried.
    if (found.kind !== 'missing') return found;
  }
  return undefined;
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

/** The names under which a file exports what it declares under a name. */
export function exportedNames(source: ts.SourceFile, local: string): readonly string[] {
  const exported = symbolNamed(localsOf(source), local)?.declarations ?? [];
  return [...exportsOf(source).values()]
    .filter((symbol) => {
      const { specifier, name } = bindingOf(symbol) ?? {};
      const isNamed = name === local && specifier === undefined;
      return isNamed || symbol.declarations?.some((each) => exported.includes(each)) === true;
    })
    .map(({ name }) => name);
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
