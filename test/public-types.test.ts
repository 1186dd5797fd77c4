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
  http: 'runtime/entrances/http',
  operate: 'runtime/entrances/operate',
  relay: 'runtime/entrances/relay',
  testing: 'runtime/testing/index',
} as const;
/** What one imports from each. */
const ABOUT: Readonly<Record<string, string>> = {
  index: 'What applications write their models, events, actions, handlers and sagas with.',
  client: 'What an emitted client imports: attempts, keys, errors and streams.',
  codegen: 'What emitted code imports, and the descriptors that it consists of.',
  config: 'Loads, checks and prints `fw.config.yaml`.',
  consumer: 'Checks messages and webhooks of this package in the programs that receive them.',
  generator: 'The generator as a function, for build tools.',
  http: 'The server: who calls it, its limits, and routes of your own.',
  operate:
    'For programs of operators: migrations, delivery, dead letters, sagas, schedules, retention, topology.',
  relay: 'Sends events to brokers and webhooks.',
  testing: 'Specifications of actions, handlers and sagas without a database.',
};
const DIST = join(import.meta.dirname, '../dist');

const project = new Project({
  skipAddingFilesFromTsConfig: true,
  compilerOptions: {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
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

test('the declarations of the package compile without `skipLibCheck`', () => {
  const program = project.getProgram();
  const files = project.getSourceFiles().filter((file) => file.getFilePath().startsWith(DIST));
  const messages = files.flatMap((file) =>
    program.getSemanticDiagnostics(file).map((each) => each.getMessageText()),
  );
  expect(messages).toEqual([]);
});

describe.each([...entries])('the entry %s', (name, entry) => {
  const declarations = [...entry.getExportedDeclarations()];

  test('equal the committed snapshot: a change of these types is a change for users', async () => {
    const texts = declarations.flatMap(([exported, found]) =>
      found.map((declaration) => `${exported}\n${textOf(declaration)}\n`),
    );
    await expect(`${texts.sort().join('\n')}`).toMatchFileSnapshot(`public-types/${name}.txt`);
  });

  test('are listed in docs/reference, with what their comments say first', async () => {
    const rows = declarations
      .map(([exported, found]) => `| \`${exported}\` | ${kindOf(found)} | ${summaryOf(found)} |`)
      .sort();
    const path = name === 'index' ? 'fw-actions' : `fw-actions/${name}`;
    const page = [
      `# ${path}`,
      '',
      ABOUT[name],
      '',
      '| name | kind | about |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
    await expect(page).toMatchFileSnapshot(`../docs/reference/${name}.md`);
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

function kindOf([first]: readonly ExportedDeclarations[]): string {
  if (Node.isClassDeclaration(first)) return first.isAbstract() ? 'abstract class' : 'class';
  if (Node.isFunctionDeclaration(first)) return 'function';
  return Node.isVariableDeclaration(first) ? 'value' : 'type';
}

/** The first paragraph of a declaration's comment, in one line. */
function summaryOf(found: readonly ExportedDeclarations[]): string {
  const [text = ''] = found
    .map((each) => (Node.isVariableDeclaration(each) ? each.getVariableStatementOrThrow() : each))
    .flatMap((each) => (Node.isJSDocable(each) ? each.getJsDocs() : []))
    .map((comment) => comment.getDescription().trim());
  const [paragraph = ''] = text.split(/\n\s*\n/);
  return paragraph
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<!\\)\|/g, '\\|');
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
