import type { DocTag } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { positionIn } from './source-files.js';
import { isInstanceMember } from './syntax.js';

/** A documentation comment: its text and its tags. */
export interface Doc {
  readonly description?: string;
  readonly tags: readonly DocTag[];
}

/** A comment of one line: a text, or a tag of this package, without links and other markup. */
const PLAIN =
  /^\/\*\*[ \t]+(?:@(maxLength|minLength|minimum|maximum|integer|numeric|label|secret|version)(?=[ \t]))?([^@{}`*\\<>\r\n\u2028\u2029]*)\*\/$/;

/**
 * Reads the comment directly before a declaration. Trees have no comments, because most declarations have none or one
 * plain line. Only other comments are parsed, each by itself: parsing all takes 5 % of a run.
 */
export function readDoc(node: ts.Node): Doc {
  const source = node.getSourceFile();
  const comment = commentOf(source.text, node.pos, node.getStart(source));
  return comment === undefined ? { tags: [] } : readComment(source, comment);
}

/**
 * Returns the last comment before a declaration. On the line of the preceding token, it belongs to the declaration if
 * that begins on the same line or is the first in its braces; otherwise it may belong to the previous member.
 */
function commentOf(text: string, pos: number, start: number): ts.TextRange | undefined {
  const comment = docsIn(text, pos, start).at(-1);
  if (comment === undefined || pos === 0 || text.charAt(pos - 1) === '{') return comment;
  const isBeside = !text.slice(pos, comment.pos).includes('\n');
  return isBeside && text.slice(comment.end, start).includes('\n') ? undefined : comment;
}

/**
 * Reads tags in comments around a member that `readDoc` ignores: inside the member, in an earlier comment, or at the
 * end of its line, where they might describe the member below.
 */
export function readMisplacedTags(member: ts.PropertyDeclaration | ts.PropertySignature): readonly DocTag[] {
  const source = member.getSourceFile();
  const { text } = source;
  const { type } = member;
  const content = (ts.isPropertyDeclaration(member) ? member.initializer : undefined) ?? type;
  const start = startAround(member);
  const end = endOfLine(text, member.end);
  if (!text.slice(start, end).includes('/**')) return [];
  const own = commentOf(text, member.pos, member.getStart(source));
  return [
    ...docsIn(text, start, type?.getStart(source) ?? member.end),
    ...docsIn(text, content?.end ?? member.end, end),
  ]
    .filter(({ pos }) => pos !== own?.pos)
    .flatMap((comment) => readComment(source, comment).tags)
    .map((tag) => ({ ...tag, misplaced: true }));
}

/** Returns where the comments before a member begin: after those behind the previous field on its line. */
function startAround(member: ts.PropertyDeclaration | ts.PropertySignature): number {
  const members: readonly ts.Node[] = member.parent.members;
  const above = members[members.indexOf(member) - 1];
  const isField =
    above !== undefined &&
    (ts.isPropertySignature(above) || (ts.isPropertyDeclaration(above) && isInstanceMember(above)));
  return isField ? endOfLine(member.getSourceFile().text, above.end) : member.pos;
}

/** Returns the end of the comments behind a member, unless another member follows on their line. */
function endOfLine(text: string, end: number): number {
  const last = ts.getTrailingCommentRanges(text, end)?.at(-1)?.end ?? end;
  return /^[ \t]*(?:[\n}]|$)/.test(text.slice(last)) ? last : end;
}

/** Finds documentation comments in a part of a text that has no string literals. */
function docsIn(text: string, start: number, end: number): readonly ts.TextRange[] {
  const part = end - start < '/** */'.length ? '' : text.slice(start, end);
  return [...part.matchAll(/\/\/[^\n]*|\/\*.*?\*\//gs)]
    .filter(({ 0: comment }) => /^\/\*\*[^/]/.test(comment))
    .map(({ 0: { length }, index }) => ({ pos: start + index, end: start + index + length }));
}

function readComment(source: ts.SourceFile, comment: ts.TextRange): Doc {
  const { text } = source;
  const [plain, tag, content = ''] = PLAIN.exec(text.slice(comment.pos, comment.end)) ?? [];
  if (plain === undefined) return parseDoc(source, comment);
  if (tag === undefined) return docOf(content, []);
  const location = positionIn(source, text.indexOf('@', comment.pos));
  return { tags: [{ name: tag, text: content.trim(), location }] };
}

function docOf(text: string, tags: readonly DocTag[]): Doc {
  const description = text.trim();
  return description === '' ? { tags } : { description, tags };
}

/** Parses a comment in front of a dummy declaration, with the indentation that it has in its file. */
function parseDoc(source: ts.SourceFile, { pos, end }: ts.TextRange): Doc {
  const lineStart = Math.max(0, source.text.lastIndexOf('\n', pos));
  const lead = source.text.slice(lineStart, pos).replace(/[^\n]/g, ' ');
  const text = `${lead}${source.text.slice(pos, end)}\nlet it;`;
  const own = ts.createSourceFile('', text, ts.ScriptTarget.Latest, true);
  const doc = own.statements.flatMap((each) => ts.getJSDocCommentsAndTags(each).filter(ts.isJSDoc)).at(-1);
  const tags = (doc?.tags ?? []).map((tag) => ({
    name: tag.tagName.text,
    text: (ts.getTextOfJSDocComment(tag.comment) ?? '').trim(),
    location: positionIn(source, tag.getStart(own) + lineStart),
  }));
  return docOf(ts.getTextOfJSDocComment(doc?.comment) ?? '', tags);
}
