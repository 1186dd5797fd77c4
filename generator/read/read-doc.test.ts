import { expect, test } from 'vitest';
import { ts } from './compiler.js';
import { parseSource } from './parse-source.js';
import { readDoc } from './read-doc.js';

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

/** What the compiler itself reads where the comment stands. */
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

test.each(COMMENTS)('%j says what it says to the compiler', (comment) => {
  const text = `class A {\n  ${comment}\n  readonly b!: string;\n}\n`;
  const { source } = parseSource('a.ts', text);
  expect(readDoc(memberOf(source))).toEqual(compilersReading(text));
});

test('a comment on the first line of a file is read where it stands', () => {
  const text = '/** One.\n *  @crossShard\n */ class A {}\n';
  const [node] = parseSource('a.ts', text).source?.statements ?? [];
  expect(node === undefined ? undefined : readDoc(node)).toEqual({
    description: 'One.',
    tags: [{ name: 'crossShard', text: '', location: { file: 'a.ts', line: 2, column: 5 } }],
  });
});
