import { join } from 'node:path';
import { type ExportedDeclarations, Node, Project, type SourceFile, SyntaxKind, ts } from 'ts-morph';
import { describe, expect, test } from 'vitest';

/** The package's entries, as `npm run build` declares them. */
const ENTRIES = {
  index: 'runtime/index',
  client: 'runtime/client/index',
  codegen: 'runtime/codegen/index',
  config: 'runtime/config/index',
  consumer: 'runtime/consumer/index',
  generator: 'generator/index',
  testing: 'runtime/testing/index',
} as const;
const DIST = join(import.meta.dirname, '../dist');

const project = new Project({
  skipAddingFilesFromTsConfig: true,
  compilerOptions: {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
  },
});
const entries = new Map<string, SourceFile>(
  Object.entries(ENTRIES).map(([name, path]) => [
    name,
    project.addSourceFileAtPath(join(DIST, `${path}.d.ts`)),
  ]),
);
project.resolveSourceFileDependencies();

/** Declarations that users can name. */
const named = new Set<Node>(
  [...entries.values()].flatMap((entry) => [...entry.getExportedDeclarations().values()].flat()),
);
const printer = ts.createPrinter({ removeComments: true });

describe.each([...entries])('the entry %s', (name, entry) => {
  const declarations = [...entry.getExportedDeclarations()];

  test('equal the committed snapshot: a change of these types is a change for users', async () => {
    const texts = declarations.flatMap(([exported, found]) =>
      found.map((declaration) => `${exported}\n${textOf(declaration)}\n`),
    );
    await expect(`${texts.sort().join('\n')}`).toMatchFileSnapshot(`public-types/${name}.txt`);
  });

  test('are documented', () => {
    const silent = declarations.filter(([, found]) => !found.some(isDocumented));
    expect(silent.map(([exported]) => exported)).toEqual([]);
  });

  test('mention no type that users cannot name', () => {
    const needed = declarations.flatMap(([exported, found]) =>
      found.flatMap((declaration) => unnamedTypes(declaration).map((type) => `${exported} needs ${type}`)),
    );
    expect([...new Set(needed)]).toEqual([]);
  });
});

/** The keys of a table as users see them: one literal each. Undefined for any other declaration. */
function keysOfTable(declaration: Node): string | undefined {
  if (!Node.isTypeAliasDeclaration(declaration)) return undefined;
  if (declaration.getTypeNode()?.getText().startsWith('keyof typeof ') !== true) return undefined;
  const keys = declaration.getType().getUnionTypes();
  const literals = keys.map((key) => `'${String(key.getLiteralValue())}'`);
  return `export type ${declaration.getName()} = ${literals.sort().join(' | ')};`;
}

function textOf(declaration: ExportedDeclarations): string {
  const keys = keysOfTable(declaration);
  if (keys !== undefined) return keys;
  const whole = Node.isVariableDeclaration(declaration)
    ? declaration.getVariableStatementOrThrow()
    : declaration;
  return printer.printNode(ts.EmitHint.Unspecified, whole.compilerNode, whole.getSourceFile().compilerNode);
}

function isDocumented(declaration: ExportedDeclarations): boolean {
  const whole = Node.isVariableDeclaration(declaration)
    ? declaration.getVariableStatementOrThrow()
    : declaration;
  if (!Node.isJSDocable(whole) || whole.getJsDocs().length > 0) return true;
  // An overloaded function is documented at its first signature.
  return (
    Node.isFunctionDeclaration(whole) && whole.getOverloads().some((form) => form.getJsDocs().length > 0)
  );
}

/** Types of this package that a declaration mentions publicly and that no entry exports. */
function unnamedTypes(declaration: Node): readonly string[] {
  if (keysOfTable(declaration) !== undefined) return [];
  return declaration
    .getDescendantsOfKind(SyntaxKind.Identifier)
    .filter((name) => isTypeName(name) && !isPrivate(name))
    .flatMap((name) => {
      const symbol = name.getSymbol();
      const target = symbol?.isAlias() === true ? symbol.getAliasedSymbol() : symbol;
      const declared = target?.getDeclarations() ?? [];
      const isOurs = declared.some(
        (node) =>
          !Node.isTypeParameterDeclaration(node) && node.getSourceFile().getFilePath().startsWith(DIST),
      );
      // Without a declaration, it is one of those that the build removes.
      const isKnown =
        declared.length > 0 &&
        (!isOurs || declared.some((node) => named.has(node) || isPartOf(declaration, node)));
      return isKnown ? [] : [name.getText()];
    });
}

/** A type that its module does not export is part of the declaration that uses it. */
function isPartOf(declaration: Node, type: Node): boolean {
  const isOfOneModule = type.getSourceFile() === declaration.getSourceFile();
  return isOfOneModule && Node.isExportable(type) && !type.isExported();
}

function isTypeName(name: Node): boolean {
  const parent = name.getParent();
  return (
    Node.isTypeReference(parent) || Node.isExpressionWithTypeArguments(parent) || Node.isTypeQuery(parent)
  );
}

function isPrivate(name: Node): boolean {
  const member = name.getFirstAncestor((node) => Node.isModifierable(node));
  return Node.isModifierable(member) && member.hasModifier(SyntaxKind.PrivateKeyword);
}
