import { ts } from './compiler.js';
import { type Declaration, declaredName, hasKeyword } from './syntax.js';

/** A name that an import statement binds. */
export interface ImportBinding {
  readonly specifier: string;
  /** Name of the export, `default`, or `*` for the whole module. */
  readonly name: string;
}

/** A re-export of another module. */
export interface ReExport {
  readonly specifier: string;
  /** Exported name and the name it has there; absent for `export * from`. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** What the top level of one file declares, imports and exports. */
export interface ModuleIndex {
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly imports: ReadonlyMap<string, ImportBinding>;
  /** Exported name to local name, for everything that the file itself exports. */
  readonly exports: ReadonlyMap<string, string>;
  readonly defaultExport: Declaration | undefined;
  readonly reExports: readonly ReExport[];
}

const INDEX = Symbol('index');

interface Indexed {
  [INDEX]?: ModuleIndex;
}

/**
 * The index of a file, made once per tree and kept on it: trees come and go by the thousand, and the garbage collector
 * moves each of them twice if a WeakMap speaks of them.
 */
export function moduleIndex(source: ts.SourceFile): ModuleIndex {
  const tree: ts.SourceFile & Indexed = source;
  tree[INDEX] ??= makeIndex(source);
  return tree[INDEX];
}

interface Draft {
  readonly declarations: Map<string, Declaration>;
  readonly imports: Map<string, ImportBinding>;
  readonly exports: Map<string, string>;
  readonly reExports: ReExport[];
  defaultExport: Declaration | undefined;
}

function makeIndex(source: ts.SourceFile): ModuleIndex {
  const draft: Draft = {
    declarations: new Map(),
    imports: new Map(),
    exports: new Map(),
    reExports: [],
    defaultExport: undefined,
  };
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) addImports(draft, statement);
    else if (ts.isExportDeclaration(statement)) addExports(draft, statement);
    else if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations) add(draft, declaration, statement);
    } else if (
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    ) {
      add(draft, statement, statement);
    }
  }
  return draft;
}

/** A class wins over an interface or variable that shares its name. */
function add(draft: Draft, declaration: Declaration, statement: ts.Statement): void {
  const name = declaredName(declaration);
  const isExported = hasKeyword(statement, ts.SyntaxKind.ExportKeyword);
  const isDefault = hasKeyword(statement, ts.SyntaxKind.DefaultKeyword);
  if (isDefault) draft.defaultExport ??= declaration;
  if (name === undefined) return;
  if (!draft.declarations.has(name) || ts.isClassDeclaration(declaration)) {
    draft.declarations.set(name, declaration);
  }
  if (isExported && !isDefault) draft.exports.set(name, name);
}

function addImports({ imports }: Draft, { importClause, moduleSpecifier }: ts.ImportDeclaration): void {
  if (importClause === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
  const specifier = moduleSpecifier.text;
  const { name, namedBindings } = importClause;
  if (name !== undefined) imports.set(name.text, { specifier, name: 'default' });
  if (namedBindings === undefined) return;
  if (ts.isNamespaceImport(namedBindings)) imports.set(namedBindings.name.text, { specifier, name: '*' });
  else {
    for (const element of namedBindings.elements) {
      imports.set(element.name.text, { specifier, name: (element.propertyName ?? element.name).text });
    }
  }
}

function addExports(draft: Draft, { exportClause, moduleSpecifier }: ts.ExportDeclaration): void {
  const specifier =
    moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
  if (exportClause === undefined) {
    if (specifier !== undefined) draft.reExports.push({ specifier, names: undefined });
    return;
  }
  if (!ts.isNamedExports(exportClause)) return;
  const names = exportClause.elements.map(
    (element) => [element.name.text, (element.propertyName ?? element.name).text] as const,
  );
  if (specifier !== undefined) draft.reExports.push({ specifier, names: new Map(names) });
  else for (const [exported, local] of names) draft.exports.set(exported, local);
}
