import type { IncomingMessage } from 'node:http';

/** Ends a message's head, a chunked body and its trailers. */
const BLANK_LINE = Buffer.from('\r\n\r\n');
const CR = 0x0d;

/**
 * Cuts the bytes of a connection so that no piece holds the end of one request and the start of the next. Node's
 * parser reads the framing; this class only looks for places where a message can end.
 */
export class MessageCutter {
  /** Number of bytes of a blank line at the end of the last piece: 0 to 3. */
  #begun = 0;
  /** Missing bytes of the body; `undefined` in a head or a chunked body. */
  #bodyLeft: number | undefined;

  /** Must be called when the parser has read a head. */
  startBody({ headers }: IncomingMessage): void {
    this.#begun = 0;
    this.#bodyLeft =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
  }

  /** Must be called when the parser has read a whole request. */
  endBody(): void {
    this.#begun = 0;
    this.#bodyLeft = undefined;
  }

  /** Number of these bytes that belong to one piece; at least 1 unless there are none. */
  cut(bytes: Buffer): number {
    if (this.#bodyLeft !== undefined && this.#bodyLeft > 0) {
      const length = Math.min(bytes.length, this.#bodyLeft);
      this.#bodyLeft -= length;
      return length;
    }
    const length = this.#toBlankLine(bytes);
    this.#begun = begunAt(bytes, length, this.#begun);
    return length;
  }

  #toBlankLine(bytes: Buffer): number {
    const rest = BLANK_LINE.length - this.#begun;
    if (this.#begun > 0 && bytes.subarray(0, rest).equals(BLANK_LINE.subarray(this.#begun))) return rest;
    const at = bytes.indexOf(BLANK_LINE);
    return at === -1 ? bytes.length : at + BLANK_LINE.length;
  }
}

/** How many bytes of a blank line come last in the first `length` bytes, behind `before` bytes of one. */
function begunAt(bytes: Buffer, length: number, before: number): number {
  const from = Math.max(0, length - 3);
  let begun = from === 0 ? before : 0;
  for (let at = from; at < length; at += 1) {
    if (bytes[at] === BLANK_LINE[begun]) begun += 1;
    else begun = bytes[at] === CR ? 1 : 0;
    // The second half of a blank line can be the first half of another one.
    if (begun === BLANK_LINE.length) begun = 2;
  }
  return begun;
}
