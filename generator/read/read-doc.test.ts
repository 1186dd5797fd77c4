import { expect, test } from 'vitest';
import { ts } from './compiler.js';
import { readDoc, readMisplacedTags } from './read-doc.js';
import { instanceProperties } from './syntax.js';

const COMMENTS: readonly string[] = [
  '/** What people call it. */',
  '/** @maxLength 80 */',
  '/** @secret */',
  '/** @label the amount */',
  '/**Close to its marks.*/',
  '/** Two words.   @maxLength 80 */',
  '/**\n   * Several lines,\n   *   one of them indented.\n   *\n   * @minimum 0\n   * @pattern ^[A-Z]{2}$\n   */',
  '/** With {@link Wallet}, `code`, an a@b.c and a \\. */',
  '/** @default "a" - and more */',
  '/** @version\t2 */',
  '/** <b>Bold</b> * star */',
  '/** The first. */\n  /** The last. */',
  '/* none */',
  '// none',
  '/***/',
  '/**/',
  '/** */',
  '/** @deprecated Use another. @integer */',
];

function parsed(text: string): ts.SourceFile {
  return ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
}

/** Reads the comment with the compiler itself. */
function compilersReading(text: string): ReturnType<typeof readDoc> {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
  const doc = ts.getJSDocCommentsAndTags(memberOf(source)).filter(ts.isJSDoc).at(-1);
  const description = ts.getTextOfJSDocComment(doc?.comment)?.trim() ?? '';
  const tags = (doc?.tags ?? []).map((tag) => {
    const { line, character } = source.getLineAndCharacterOfPosition(tag.getStart());
    return {
      name: tag.tagName.text,
      text: (ts.getTextOfJSDocComment(tag.comment) ?? '').trim(),
      location: { file: 'a.ts', line: line + 1, column: character + 1 },
    };
  });
  return description === '' ? { tags } : { description, tags };
}

function memberOf(source: ts.SourceFile | undefined): ts.Node {
  const [statement] = source?.statements ?? [];
  const member =
    statement !== undefined && ts.isClassDeclaration(statement) ? statement.members[0] : undefined;
  if (member === undefined) throw new Error('There is no member');
  return member;
}

test.each(COMMENTS)('%j has the meaning that it has for the compiler', (comment) => {
  const text = `class A {\n  ${comment}\n  readonly b!: string;\n}\n`;
  const source = parsed(text);
  expect(readDoc(memberOf(source))).toEqual(compilersReading(text));
});

test('a comment on the first line of a file has its position', () => {
  const text = '/** One.\n *  @crossShard\n */ class A {}\n';
  const [node] = parsed(text).statements;
  expect(node === undefined ? undefined : readDoc(node)).toEqual({
    description: 'One.',
    tags: [{ name: 'crossShard', text: '', location: { file: 'a.ts', line: 2, column: 5 } }],
  });
});

const SAME_LINE: readonly string[] = [
  'interface A { readonly other: string; /** @secret */ readonly pin: string }',
  'interface A { readonly other: string, /** @secret */ readonly pin: string }',
  'interface A { /** @secret */ readonly pin: string }',
  'interface A { /** @secret */\n  readonly pin: string;\n}',
  'interface A { /** @secret */ // not even here\n  readonly pin: string;\n}',
  'interface A {\n  readonly other: string; /**\n * @secret\n */ readonly pin: string;\n}',
  'interface A { readonly other: string; /** Their number. */ /** @secret */ readonly pin: string }',
  'class A { other?: string; /** @secret */ pin?: string }',
];

test.each(SAME_LINE)('a comment on the line of the preceding token counts: %j', (text) => {
  expect(membersOf(text).map((each) => readDoc(each).tags.map(({ name }) => name))).toEqual(
    membersOf(text).map((each) => (each.name.getText() === 'pin' ? ['secret'] : [])),
  );
  expect(membersOf(text).flatMap(readMisplacedTags)).toEqual([]);
});

const MISPLACED: readonly string[] = [
  'interface A {\n  readonly pin?: string; /** @secret */\n  readonly other: string;\n}',
  'interface A {\n  readonly pin?: string /** @secret */;\n  readonly other: string;\n}',
  'interface A {\n  readonly pin?: string /** @secret */\n  readonly other: string;\n}',
  'interface A {\n  readonly pin?: string; /** @secret */ // said here\n\n  /** Own. */\n  readonly other: string;\n}',
  'interface A { readonly pin?: string; /** @secret */ }',
  'interface A {\n  readonly /** @secret */ pin: string;\n  readonly other: string;\n}',
  'interface A {\n  readonly pin: /** @secret */ string;\n  readonly other: string;\n}',
  'interface A {\n  /** @secret */\n  /** Their number. */\n  readonly pin: string;\n}',
  'interface A { /** @secret */\n  /** Their number. */\n  readonly pin: string;\n}',
  'interface A { readonly other: string; /** @secret */ /** Their number. */ readonly pin: string }',
  'class A {\n  static other = 1; /** @secret */\n  readonly pin!: string;\n}',
  'class A {\n  other() {} /** @secret */\n  readonly pin!: string;\n}',
  "class A {\n  readonly pin: string = '/** @label b */'; /** @secret */\n  readonly other!: string;\n}",
];

test.each(MISPLACED)('a tag that may belong to another member is ignored: %j', (text) => {
  expect(membersOf(text).flatMap((each) => readDoc(each).tags)).toEqual([]);
  const location = positionOf(text, '@secret');
  expect(membersOf(text).map((each) => [each.name.getText(), readMisplacedTags(each)])).toEqual(
    membersOf(text).map((each) => [
      each.name.getText(),
      each.name.getText() === 'pin' ? [{ name: 'secret', text: '', location, misplaced: true }] : [],
    ]),
  );
});

function membersOf(text: string): readonly (ts.PropertyDeclaration | ts.PropertySignature)[] {
  const [statement] = parsed(text).statements;
  if (
    statement === undefined ||
    !(ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement))
  ) {
    throw new Error('There are no members');
  }
  return ts.isClassDeclaration(statement)
    ? instanceProperties(statement)
    : statement.members.filter((member) => ts.isPropertySignature(member));
}

function positionOf(text: string, mark: string): object {
  const before = text.slice(0, text.indexOf(mark)).split('\n');
  return { file: 'a.ts', line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
