import { posix } from 'node:path';
import { ts } from './compiler.js';
import { fileOf } from './source-files.js';
import { type Declaration, declaredName, hasKeyword, isValueDeclaration } from './syntax.js';

/** The module in an import or re-export. */
export interface ModuleReference {
  readonly specifier: string;
  /** Project-relative path of the file that contains the statement. */
  readonly file: string;
}

/** Project-relative path of a relative specifier, with its extension as written; undefined for other specifiers. */
export function importPath({ specifier, file }: ModuleReference): string | undefined {
  return /^\.\.?(\/|$)/.test(specifier) ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** A name that an import statement binds. */
export interface ImportBinding {
  readonly from: ModuleReference;
  /** Name of the export, `default`, or `*` for the whole module. */
  readonly name: string;
}

/** A re-export of another module. */
export interface ReExport {
  readonly from: ModuleReference;
  /** Names in that module by exported name, `*` for the whole module; undefined for `export * from`. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** Declarations, imports and exports at the top level of one file. */
export interface ModuleIndex {
  /** By name. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
  readonly imports: ReadonlyMap<string, ImportBinding>;
  /** Local name by exported name, for everything that the file itself exports. */
  readonly exports: ReadonlyMap<string, string>;
  readonly defaultExport: Declaration | undefined;
  readonly reExports: readonly ReExport[];
}

interface Indexed {
  moduleIndex?: ModuleIndex;
}

/**
 * Returns the index of a file. It is created once per tree and stored on the tree: runs create trees by the thousand,
 * and the garbage collector moves each key of a WeakMap twice.
 */
export function moduleIndex(source: ts.SourceFile): ModuleIndex {
  const tree: ts.SourceFile & Indexed = source;
  tree.moduleIndex ??= makeIndex(source);
  return tree.moduleIndex;
}

/** The kind of meaning that is looked up: a constant and a type may have the same name. */
export type Meaning = 'type' | 'value';

/** Returns what a name means at the top level of a file: a class takes precedence over other types, these over values. */
export function declarationIn(
  source: ts.SourceFile,
  name: string,
  meaning: Meaning = 'type',
): Declaration | undefined {
  const [first, ...others] = moduleIndex(source).declarations.get(name) ?? [];
  if (first === undefined || others.length === 0) return first;
  const all = [first, ...others];
  const value = all.find((each) => ts.isVariableDeclaration(each) || ts.isFunctionDeclaration(each));
  const type = all.find(ts.isClassDeclaration) ?? all.find((each) => !isValueDeclaration(each)) ?? first;
  // A class is also the value of its name, whatever a namespace adds to it.
  return meaning === 'value' ? (value ?? type) : type;
}

type Draft = ReturnType<typeof emptyIndex>;

function emptyIndex() {
  return {
    declarations: new Map<string, Declaration[]>(),
    imports: new Map<string, ImportBinding>(),
    exports: new Map<string, string>(),
    reExports: [] as ReExport[],
    defaultExport: undefined as Declaration | undefined,
  };
}

function makeIndex(source: ts.SourceFile): ModuleIndex {
  const draft = emptyIndex();
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) addImports(draft, source, statement);
    else if (ts.isExportDeclaration(statement)) addExports(draft, source, statement);
    else if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations) add(draft, declaration, statement);
    } else if (
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement) ||
      isValueDeclaration(statement)
    ) {
      add(draft, statement, statement);
    }
  }
  return draft;
}

function add(draft: Draft, declaration: Declaration, statement: ts.Statement): void {
  const name = declaredName(declaration);
  const isExported = hasKeyword(statement, ts.SyntaxKind.ExportKeyword);
  const isDefault = hasKeyword(statement, ts.SyntaxKind.DefaultKeyword);
  if (isDefault) draft.defaultExport ??= declaration;
  if (name === undefined) return;
  draft.declarations.set(name, [...(draft.declarations.get(name) ?? []), declaration]);
  if (isExported && !isDefault) draft.exports.set(name, name);
}

function addImports(
  { imports }: Draft,
  source: ts.SourceFile,
  { importClause, moduleSpecifier }: ts.ImportDeclaration,
): void {
  if (importClause === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
  const from = { specifier: moduleSpecifier.text, file: fileOf(source) };
  const { name, namedBindings } = importClause;
  if (name !== undefined) imports.set(name.text, { from, name: 'default' });
  if (namedBindings === undefined) return;
  if (ts.isNamespaceImport(namedBindings)) imports.set(namedBindings.name.text, { from, name: '*' });
  else {
    for (const element of namedBindings.elements) {
      imports.set(element.name.text, { from, name: (element.propertyName ?? element.name).text });
    }
  }
}

function addExports(
  draft: Draft,
  source: ts.SourceFile,
  { exportClause, moduleSpecifier }: ts.ExportDeclaration,
): void {
  const from =
    moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier)
      ? { specifier: moduleSpecifier.text, file: fileOf(source) }
      : undefined;
  if (exportClause === undefined || ts.isNamespaceExport(exportClause)) {
    const names = exportClause && new Map([[exportClause.name.text, '*']]);
    if (from !== undefined) draft.reExports.push({ from, names });
    return;
  }
  const names = exportClause.elements.map(
    (element) => [element.name.text, (element.propertyName ?? element.name).text] as const,
  );
  if (from !== undefined) draft.reExports.push({ from, names: new Map(names) });
  else for (const [exported, local] of names) draft.exports.set(exported, local);
}
