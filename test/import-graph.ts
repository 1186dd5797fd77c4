import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from 'ts-morph';

/** One import, export-from, `import('...')` or `import type`. */
export interface Import {
  /** The text between the quotes. */
  readonly specifier: string;
  /** The imported file, if the specifier is relative. */
  readonly file: string | undefined;
  /** Whether the import leaves nothing at run time. */
  readonly typeOnly: boolean;
  /** Whether it is loaded when a function runs, not with the module. */
  readonly deferred: boolean;
  /** 1-based. */
  readonly line: number;
}

/**
 * A source file with the facts that the architecture test needs. Paths are relative to the repository, with forward
 * slashes.
 */
export interface SourceModule {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly syntax: ts.SourceFile;
}

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Tests, and code that only tests use. */
const NOT_SHIPPED = /(\.test(-d)?\.ts$)|(^|\/)(golden|test-support)\//;

/** Parses every shipped source file below a folder. */
export function readModules(folder: string): readonly SourceModule[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !NOT_SHIPPED.test(path))
    .sort()
    .map(readModule);
}

function readModule(path: string): SourceModule {
  return parseModule(path, readFileSync(join(ROOT, path), 'utf8'));
}

/** A source file from its text. */
export function parseModule(path: string, text: string): SourceModule {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return { path, lines: text.split('\n').length - 1, imports: importsOf(path, syntax), syntax };
}

function importsOf(path: string, syntax: ts.SourceFile): readonly Import[] {
  const imports: Import[] = [];
  walk(syntax, (node) => {
    const found = importAt(node);
    if (found === undefined) return;
    const { specifier, typeOnly, deferred } = found;
    const file = specifier.startsWith('.')
      ? posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
      : undefined;
    imports.push({ specifier, file, typeOnly, deferred, line: lineOf(node) });
  });
  return imports;
}

interface FoundImport {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly deferred: boolean;
}

function importAt(node: ts.Node): FoundImport | undefined {
  if (ts.isImportDeclaration(node)) {
    const { moduleSpecifier, importClause } = node;
    return found(moduleSpecifier, importClause !== undefined && bringsTypesOnly(importClause), false);
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const { exportClause, isTypeOnly } = node;
    const named = exportClause !== undefined && ts.isNamedExports(exportClause) ? exportClause.elements : [];
    const typesOnly = isTypeOnly || (named.length > 0 && named.every((element) => element.isTypeOnly));
    return found(node.moduleSpecifier, typesOnly, false);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return found(node.argument.literal, true, false);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return found(node.arguments[0], false, true);
  }
  return undefined;
}

/** `import type ...`, or an import whose every name is marked `type`: neither leaves anything at run time. */
function bringsTypesOnly({ phaseModifier, name, namedBindings }: ts.ImportClause): boolean {
  if (phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function found(
  specifier: ts.Node | undefined,
  typeOnly: boolean,
  deferred: boolean,
): FoundImport | undefined {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  return { specifier: specifier.text, typeOnly, deferred };
}

/** Calls `visit` for a node and everything below it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** 1-based line of a node. */
export function lineOf(node: ts.Node): number {
  const syntax = node.getSourceFile();
  return syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1;
}

/** The cycles among files along these edges, each as the set of its files; empty without cycles. */
export function cyclesOf(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  // Tarjan's strongly connected components.
  const state = new Map<string, { readonly index: number; low: number; onStack: boolean }>();
  const stack: string[] = [];
  const cycles: (readonly string[])[] = [];
  const visit = (file: string): number => {
    const own = { index: state.size, low: state.size, onStack: true };
    state.set(file, own);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      const known = state.get(next);
      if (known === undefined) own.low = Math.min(own.low, visit(next));
      else if (known.onStack) own.low = Math.min(own.low, known.index);
    }
    if (own.low === own.index) {
      const component = stack.splice(stack.indexOf(file));
      for (const member of component) {
        const memberState = state.get(member);
        if (memberState !== undefined) memberState.onStack = false;
      }
      const loopsToItself = edges.get(file)?.includes(file) === true;
      if (component.length > 1 || loopsToItself) cycles.push(component.sort());
    }
    return own.low;
  };
  for (const file of edges.keys()) if (!state.has(file)) visit(file);
  return cycles;
}
