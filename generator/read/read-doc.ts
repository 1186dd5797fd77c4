import type { DocTag } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { positionIn } from './parse-source.js';

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
 * The comment that stands directly before a declaration. Most declarations have none, or one plain line: so comments
 * are no part of the trees, and only those that say more are parsed, each by itself.
 */
export function readDoc(node: ts.Node): Doc {
  const source = node.getSourceFile();
  const { text } = source;
  if (node.getStart(source) - node.pos < '/** */'.length) return NO_DOC;
  const comment = ts.getLeadingCommentRanges(text, node.pos)?.findLast(({ pos }) => isDoc(text, pos));
  if (comment === undefined) return NO_DOC;
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
