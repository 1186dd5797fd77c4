import type { SourceLocation } from '../../schema/location.js';

// Sources cannot contain lone surrogates: strings escape them and comments drop them.
const OPEN = '\uDC00';
const OPEN_END = '\uDC01';
const CLOSE = '\uDC02';
const DIGITS = '\uDC10\uDC11\uDC12\uDC13\uDC14\uDC15\uDC16\uDC17\uDC18\uDC19';
const MARK = /\uDC00([\uDC10-\uDC19]+)\uDC01|\uDC02/gu;

/** A text with the declaration that caused each line. */
export interface TracedText {
  readonly text: string;
  /** By line, from 0; undefined for a line that no single declaration caused. */
  readonly origins: readonly (SourceLocation | undefined)[];
}

/**
 * Invisible marks around text that a declaration causes. They pass through views and templates like any text. `resolve`
 * removes them, and the result equals the text of a run without marks.
 */
export class Marks {
  readonly #locations: SourceLocation[] = [];

  /** Returns the text between marks. */
  around(location: SourceLocation, text: string): string {
    const index = String(this.#locations.push(location) - 1);
    const id = index.replace(/\d/g, (digit) => DIGITS[Number(digit)] ?? '');
    return `${OPEN}${id}${OPEN_END}${text}${CLOSE}`;
  }

  /** Removes the marks from a finished text. */
  resolve(marked: string): TracedText {
    const origins: (SourceLocation | undefined)[] = [];
    const open: SourceLocation[] = [];
    const lines = marked.split('\n').map((line) => {
      let origin = open.at(-1);
      let depth = open.length;
      for (const [mark, id] of line.matchAll(MARK)) {
        const location = mark === CLOSE ? undefined : this.#locations[numberOf(id ?? '')];
        if (location === undefined) {
          open.pop();
          continue;
        }
        open.push(location);
        // The innermost declaration of the line; the first one if there are several.
        if (open.length > depth) {
          origin = location;
          depth = open.length;
        }
      }
      const text = line.replace(MARK, '');
      origins.push(origin);
      return text;
    });
    lines.forEach((line, index) => {
      origins[index] ??= originAbove(lines, origins, index, line);
    });
    return { text: lines.join('\n'), origins };
  }
}

/**
 * A line without a mark is part of the declaration around it: that of the nearest line above with a smaller indentation,
 * or, for a closing bracket, with the same one.
 */
function originAbove(
  lines: readonly string[],
  origins: readonly (SourceLocation | undefined)[],
  index: number,
  line: string,
): SourceLocation | undefined {
  if (line === '') return undefined;
  const indent = indentOf(line) + (/^\s*[)\]}]/.test(line) ? 1 : 0);
  for (let above = index - 1; above >= 0; above -= 1) {
    const text = lines[above] ?? '';
    if (text !== '' && indentOf(text) < indent) return origins[above];
  }
  return undefined;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function numberOf(id: string): number {
  return Number([...id].map((digit) => DIGITS.indexOf(digit)).join(''));
}
