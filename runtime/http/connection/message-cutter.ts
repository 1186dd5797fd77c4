import type { IncomingMessage } from 'node:http';

/** Ends a message's head, a chunked body and its trailers. */
const BLANK_LINE = Buffer.from('\r\n\r\n');

/**
 * Cuts the bytes of a connection so that no piece holds the end of one request and the start of the next. Node's
 * parser reads the framing; this class only looks for places where a message can end.
 */
export class MessageCutter {
  /** How many bytes of a blank line the last piece ended with: 0 to 3. */
  #begun = 0;
  /** Bytes of the body that are still to come; `undefined` in a head or a chunked body. */
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

  /** How many of these bytes belong to one piece; at least 1 unless there are none. */
  cut(bytes: Buffer): number {
    if (this.#bodyLeft !== undefined && this.#bodyLeft > 0) {
      const length = Math.min(bytes.length, this.#bodyLeft);
      this.#bodyLeft -= length;
      return length;
    }
    const length = this.#toBlankLine(bytes);
    this.#begun = beginning(bytes.subarray(Math.max(0, length - 3), length), this.#begun);
    return length;
  }

  #toBlankLine(bytes: Buffer): number {
    const rest = BLANK_LINE.length - this.#begun;
    if (this.#begun > 0 && bytes.subarray(0, rest).equals(BLANK_LINE.subarray(this.#begun))) return rest;
    const at = bytes.indexOf(BLANK_LINE);
    return at === -1 ? bytes.length : at + BLANK_LINE.length;
  }
}

/** How many bytes of a blank line come last, where `before` of them came last before these (1 to 3) bytes. */
function beginning(last: Buffer, before: number): number {
  const text = BLANK_LINE.toString('latin1', 0, before) + last.toString('latin1');
  for (const length of [3, 2, 1]) {
    if (text.endsWith(BLANK_LINE.toString('latin1', 0, length))) return length;
  }
  return 0;
}
