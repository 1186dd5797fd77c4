import type { Readable } from 'node:stream';
import { HttpProblem } from './problem.js';

const EMPTY = Buffer.alloc(0);

/**
 * Reads a complete request body of any type, up to `limit` bytes. Its type is checked afterwards, so that a refusal can
 * be sent on an intact connection.
 *
 * @param declared value of `Content-Length`, if any
 * @param done called once; the problem is 413, or 400 for a body that broke off
 */
export function readBody(
  payload: Readable,
  declared: string | undefined,
  limit: number,
  done: (problem: HttpProblem | null, body?: Buffer) => void,
): void {
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge(limit));
    return;
  }
  const body = new GrowingBody();
  const onData = (chunk: Buffer): void => {
    if (body.length + chunk.length > limit) finish(tooLarge(limit));
    else body.add(chunk);
  };
  const onEnd = (): void => finish(null, body.bytes);
  const onError = (cause: Error): void =>
    finish(new HttpProblem('HTTP_MALFORMED_REQUEST', 'The body ended early', { cause }));
  const finish = (problem: HttpProblem | null, body?: Buffer): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    // Without a listener, a connection that breaks while the rest is discarded would raise an uncaught error.
    if (problem !== null) payload.on('error', () => {});
    done(problem, body);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/**
 * A body that arrives in pieces, which are copied together: chunks of one byte each, kept separately, would take 200
 * times the body's size.
 */
class GrowingBody {
  /** The first piece without a copy, because nearly all bodies have no other. */
  #buffer: Buffer = EMPTY;
  length = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  add(piece: Buffer): void {
    const length = this.length + piece.length;
    if (this.length === 0) this.#buffer = piece;
    else {
      if (length > this.#buffer.length) this.#grow(2 * length);
      piece.copy(this.#buffer, this.length);
    }
    this.length = length;
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}

function tooLarge(limit: number): HttpProblem {
  return new HttpProblem('HTTP_BODY_TOO_LARGE', `The body is larger than ${limit} bytes`);
}
