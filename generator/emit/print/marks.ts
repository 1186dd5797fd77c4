import type { SourceLocation } from '../../schema/location.js';

// Lone surrogates cannot come from a source: strings escape them and comments drop them.
const OPEN = '\uDC00';
const OPEN_END = '\uDC01';
const CLOSE = '\uDC02';
const DIGITS = '\uDC10\uDC11\uDC12\uDC13\uDC14\uDC15\uDC16\uDC17\uDC18\uDC19';
const MARK = /\uDC00([\uDC10-\uDC19]+)\uDC01|\uDC02|\n/gu;

/** A text and, for each of its lines, what in the sources caused it. */
export interface TracedText {
  readonly text: string;
  /** By line, from 0; undefined where no single declaration caused it. */
  readonly origins: readonly (SourceLocation | undefined)[];
}

/**
 * Invisible marks around text that a declaration causes. They travel through views and templates like any text and
 * are taken out of the result, which is then the same as without them.
 */
export class Marks {
  readonly #locations: SourceLocation[] = [];

  /** What ends a text that a declaration causes. */
  readonly close: string = CLOSE;

  /** The text with marks around it. */
  around(location: SourceLocation, text: string): string {
    return `${this.open(location)}${text}${CLOSE}`;
  }

  /** What begins a text that a declaration causes. */
  open(location: SourceLocation): string {
    const id = String(this.#locations.push(location) - 1).replace(
      /\d/g,
      (digit) => DIGITS[Number(digit)] ?? '',
    );
    return `${OPEN}${id}${OPEN_END}`;
  }

  /** Takes the marks out of a finished text. */
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
        // The innermost declaration that the line speaks of; of several, the first.
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
