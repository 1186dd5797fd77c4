import { posix } from 'node:path';
import { ts } from './compiler.js';
import { type Declaration, declaredName, hasKeyword, isDeclaration, isValueDeclaration } from './syntax.js';

/** Project-relative path of a relative specifier, with its extension as written; undefined for other specifiers. */
export function importPath(specifier: string, file: string): string | undefined {
  return /^\.\.?(\/|$)/.test(specifier) ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** What an import or export statement names. */
export interface Binding {
  /** Undefined for what the file itself declares or imports. */
  readonly specifier: string | undefined;
  /** The name there, `default`, or `*` for the whole module. */
  readonly name: string;
}

/** The names at the top level of one file. */
interface ModuleNames {
  readonly declarations: Map<string, Declaration[]>;
  readonly imports: Map<string, Binding>;
  /** By exported name. */
  readonly exports: Map<string, Binding>;
  /** The modules of `export * from`. */
  readonly stars: string[];
}

interface Named {
  moduleNames?: ModuleNames;
}

/**
 * Returns the names of a file. They are read once per tree and stored on the tree: runs create trees by the thousand,
 * and the garbage collector moves each key of a WeakMap twice.
 */
export function namesIn(source: ts.SourceFile): ModuleNames {
  const tree: ts.SourceFile & Named = source;
  tree.moduleNames ??= readNames(source);
  return tree.moduleNames;
}

function readNames({ statements }: ts.SourceFile): ModuleNames {
  const names: ModuleNames = { declarations: new Map(), imports: new Map(), exports: new Map(), stars: [] };
  const { imports, exports, stars } = names;
  for (const statement of statements) {
    if (ts.isImportDeclaration(statement)) {
      const { name, namedBindings } = statement.importClause ?? {};
      const specifier = textOf(statement.moduleSpecifier);
      if (name !== undefined) imports.set(name.text, { specifier, name: 'default' });
      for (const [local, original] of partsOf(namedBindings))
        imports.set(local, { specifier, name: original });
    } else if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      const specifier = moduleSpecifier && textOf(moduleSpecifier);
      if (exportClause === undefined && specifier !== undefined) stars.push(specifier);
      for (const [exported, name] of partsOf(exportClause)) exports.set(exported, { specifier, name });
    } else if (!ts.isVariableStatement(statement)) add(names, statement, statement);
    else for (const each of statement.declarationList.declarations) add(names, each, statement);
  }
  return names;
}

/** The names of `{ a, b as c }`, each with that in the module, or that of `* as all`. */
function partsOf(
  clause: ts.NamedImportBindings | ts.NamedExportBindings | undefined,
): readonly (readonly [string, string])[] {
  if (clause === undefined) return [];
  if (ts.isNamespaceImport(clause) || ts.isNamespaceExport(clause)) return [[clause.name.text, '*']];
  return [...clause.elements].map(({ name, propertyName = name }) => [name.text, propertyName.text]);
}

function textOf(specifier: ts.Expression): string {
  return ts.isStringLiteral(specifier) ? specifier.text : '';
}

function add({ declarations, exports }: ModuleNames, node: ts.Node, statement: ts.Statement): void {
  if (!isDeclaration(node)) return;
  const isExported = hasKeyword(statement, ts.SyntaxKind.ExportKeyword);
  const isDefault = hasKeyword(statement, ts.SyntaxKind.DefaultKeyword);
  const name = declaredName(node) ?? (isDefault ? 'default' : undefined);
  if (name === undefined) return;
  declarations.set(name, [...(declarations.get(name) ?? []), node]);
  if (isExported) exports.set(isDefault ? 'default' : name, { specifier: undefined, name });
}

/** Returns the names under which a file exports what it declares or imports under a name. */
export function exportedNames(source: ts.SourceFile, local: string): readonly string[] {
  return [...namesIn(source).exports]
    .filter(([, { specifier, name }]) => specifier === undefined && name === local)
    .map(([exported]) => exported);
}

/** The kind of meaning that is looked up: a constant and a type may have the same name. */
export type Meaning = 'type' | 'value';

/** Returns what a name means at the top level of a file: a class takes precedence over other types, these over values. */
export function declarationIn(
  source: ts.SourceFile,
  name: string,
  meaning: Meaning = 'type',
): Declaration | undefined {
  const [first, ...others] = namesIn(source).declarations.get(name) ?? [];
  if (first === undefined || others.length === 0) return first;
  const all = [first, ...others];
  const value = all.find((each) => ts.isVariableDeclaration(each) || ts.isFunctionDeclaration(each));
  const type = all.find(ts.isClassDeclaration) ?? all.find((each) => !isValueDeclaration(each)) ?? first;
  // A class is also the value of its name, whatever a namespace adds to it.
  return meaning === 'value' ? (value ?? type) : type;
}
