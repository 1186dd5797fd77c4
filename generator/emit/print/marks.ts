import type { SourceLocation } from '../../schema/location.js';

// Sources cannot contain lone surrogates: strings escape them and comments drop them.
const OPEN = '\uDC00';
const OPEN_END = '\uDC01';
const CLOSE = '\uDC02';
const DIGITS = '\uDC10\uDC11\uDC12\uDC13\uDC14\uDC15\uDC16\uDC17\uDC18\uDC19';
const MARK = /\uDC00([\uDC10-\uDC19]+)\uDC01|\uDC02|\n/gu;

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

  /** The mark behind a text. */
  readonly close: string = CLOSE;

  /** Returns the text between marks. */
  around(location: SourceLocation, text: string): string {
    return `${this.open(location)}${text}${CLOSE}`;
  }

  /** Returns the mark before a text. */
  open(location: SourceLocation): string {
    const id = String(this.#locations.push(location) - 1).replace(
      /\d/g,
      (digit) => DIGITS[Number(digit)] ?? '',
    );
    return `${OPEN}${id}${OPEN_END}`;
  }

  /** Removes the marks from a finished text. */
  resolve(marked: string): TracedText {
    const origins: (SourceLocation | undefined)[] = [];
    const open: SourceLocation[] = [];
    let line: SourceLocation | undefined;
    let depth = 0;
    for (const [mark, id] of marked.matchAll(MARK)) {
      if (mark === '\n') {
        origins.push(line);
        line = open.at(-1);
        depth = open.length;
      } else if (mark === CLOSE) open.pop();
      else {
        const location = this.#locations[numberOf(id ?? '')];
        if (location === undefined) continue;
        open.push(location);
        // The innermost declaration of the line; the first one if there are several.
        if (open.length > depth) {
          line = location;
          depth = open.length;
        }
      }
    }
    origins.push(line);
    return { text: marked.replace(MARK, (mark) => (mark === '\n' ? mark : '')), origins };
  }
}

function numberOf(id: string): number {
  return Number([...id].map((digit) => DIGITS.indexOf(digit)).join(''));
}
