import type { DocTag } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { positionIn } from './parse-source.js';
import { isInstanceMember } from './syntax.js';

/** A documentation comment: its text and its tags. */
export interface Doc {
  readonly description?: string;
  readonly tags: readonly DocTag[];
}

const NO_DOC: Doc = { tags: [] };

/**
 * One line of text, or one tag that means something to this package, without links or anything else that a comment can
 * hold.
 */
const PLAIN =
  /^\/\*\*[ \t]+(?:@(maxLength|minLength|minimum|maximum|integer|numeric|label|secret|version)(?=[ \t]))?([^@{}`*\\<>\r\n\u2028\u2029]*)\*\/$/;

/**
 * The comment directly before a declaration, also on the line of the preceding token. Most declarations have no comment
 * or one plain line, so comments are not part of the trees: only a longer comment is parsed, by itself.
 */
export function readDoc(node: ts.Node): Doc {
  const source = node.getSourceFile();
  const comment = commentOf(source.text, node.pos, node.getStart(source));
  return comment === undefined ? NO_DOC : readComment(source, comment);
}

function commentOf(text: string, pos: number, start: number): ts.TextRange | undefined {
  if (start - pos < '/** */'.length) return undefined;
  const leading = ts.getLeadingCommentRanges(text, pos)?.findLast((each) => isDoc(text, each.pos));
  return leading ?? commentBeside(text, pos, start);
}

/**
 * Tags in comments around a member that are not the one of `readDoc`: within it, above that one, or behind it at the
 * end of a line, where they may be about the member below as well.
 */
export function readMisplacedTags(
  member: ts.PropertyDeclaration | ts.PropertySignature,
): readonly MisplacedTag[] {
  const source = member.getSourceFile();
  const { text } = source;
  const start = member.getStart(source);
  const content = (ts.isPropertyDeclaration(member) ? member.initializer : undefined) ?? member.type;
  const head = text.slice(start, member.type?.getStart(source) ?? member.end);
  const separator = text.slice(content?.end ?? member.end, member.end);
  const isLastOfLine = text.charAt(member.end) === '\n';
  const others = start - member.pos < '/** */'.length ? [] : commentsPassedOver(member, source);
  if (isLastOfLine && others.length === 0 && !head.includes('/**') && !separator.includes('/**')) return [];
  return [
    ...others,
    ...commentsIn(head, start),
    ...commentsIn(separator, member.end - separator.length),
    ...(isLastOfLine ? [] : commentsBehind(text, member.end)),
  ]
    .filter(({ pos }) => isDoc(text, pos))
    .flatMap((comment) => readComment(source, comment).tags)
    .map((tag) => ({ ...tag, misplaced: true }));
}

interface MisplacedTag extends DocTag {
  readonly misplaced: true;
}

/**
 * Documentation comments before a member, except its own comment and comments that follow the previous member on its
 * line.
 */
function commentsPassedOver(
  member: ts.PropertyDeclaration | ts.PropertySignature,
  source: ts.SourceFile,
): readonly ts.TextRange[] {
  const { text } = source;
  const own = commentOf(text, member.pos, member.getStart(source));
  const all = [
    ...(ts.getTrailingCommentRanges(text, member.pos) ?? []),
    ...(ts.getLeadingCommentRanges(text, member.pos) ?? []),
  ];
  const others = all.filter(({ pos }) => pos !== own?.pos && isDoc(text, pos));
  if (others.length === 0) return others;
  const members: readonly ts.Node[] = member.parent.members;
  const above = members[members.indexOf(member) - 1];
  const isField =
    above !== undefined &&
    (ts.isPropertySignature(above) || (ts.isPropertyDeclaration(above) && isInstanceMember(above)));
  const behind = isField ? commentsBehind(text, above.end) : [];
  return others.filter(({ pos }) => !behind.some((each) => each.pos === pos));
}

/** Comments in what holds no text in quotes. @param offset of the text in its file */
function commentsIn(text: string, offset: number): readonly ts.TextRange[] {
  return [...text.matchAll(/\/\*.*?\*\//gs)].map(({ 0: comment, index }) => ({
    pos: offset + index,
    end: offset + index + comment.length,
  }));
}

/** Comments behind a member, unless another one follows on their line. */
function commentsBehind(text: string, end: number): readonly ts.TextRange[] {
  const comments = ts.getTrailingCommentRanges(text, end) ?? [];
  const rest = text.slice(comments.at(-1)?.end ?? end);
  return /^[ \t]*(?:[\n}]|$)/.test(rest) ? comments : [];
}

/**
 * A comment on the line of what precedes a declaration, which the compiler takes for no comment of its. It is one if
 * the declaration begins on its line too, or is the first in its braces; else it may be about the member before.
 */
function commentBeside(text: string, pos: number, start: number): ts.TextRange | undefined {
  const comment = ts.getTrailingCommentRanges(text, pos)?.findLast((each) => isDoc(text, each.pos));
  if (comment === undefined || text.charAt(pos - 1) === '{') return comment;
  return text.slice(comment.end, start).includes('\n') ? undefined : comment;
}

function readComment(source: ts.SourceFile, comment: ts.TextRange): Doc {
  const { text } = source;
  const [plain, tag, content = ''] = PLAIN.exec(text.slice(comment.pos, comment.end)) ?? [];
  if (plain === undefined) return parseDoc(source, comment);
  if (tag === undefined) return docOf(content, []);
  const location = positionIn(source, text.indexOf('@', comment.pos));
  return { tags: [{ name: tag, text: content.trim(), location }] };
}

/** `/**`, but neither the empty comment nor one that is closed at once. */
function isDoc(text: string, pos: number): boolean {
  return text.startsWith('/**', pos) && text.charAt(pos + 3) !== '/';
}

function docOf(text: string, tags: readonly DocTag[]): Doc {
  const description = text.trim();
  return description === '' ? { tags } : { description, tags };
}

/** Parses a comment before a declaration of its own, on a line of its own that is indented as it is in its file. */
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
