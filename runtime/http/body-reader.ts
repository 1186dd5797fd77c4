import type { Readable } from 'node:stream';
import { HttpProblem } from './problem.js';

const EMPTY = Buffer.alloc(0);

/**
 * Reads a complete request body of any type, up to `limit` bytes. Its type is checked afterwards, so that a refusal can
 * be sent on an intact connection. Pieces are copied together: Fastify's own reader keeps them, and a body in chunks of
 * one byte each would take 200 times its size.
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
  const tooLarge = (): HttpProblem =>
    new HttpProblem('HTTP_BODY_TOO_LARGE', `The body is larger than ${limit} bytes`);
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge());
    return;
  }
  let buffer: Buffer = EMPTY;
  let length = 0;
  const onData = (piece: Buffer): void => {
    const end = length + piece.length;
    if (end > limit) {
      finish(tooLarge());
      return;
    }
    // The first piece is not copied, because nearly all bodies have no other.
    if (length === 0) buffer = piece;
    else {
      if (end > buffer.length) buffer = Buffer.concat([buffer.subarray(0, length)], 2 * end);
      piece.copy(buffer, length);
    }
    length = end;
  };
  const onEnd = (): void => finish(null);
  const onError = (cause: Error): void =>
    finish(new HttpProblem('HTTP_MALFORMED_REQUEST', 'The body ended early', { cause }));
  const finish = (problem: HttpProblem | null): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    // Without a listener, a connection that breaks while the rest is discarded would raise an uncaught error.
    if (problem !== null) payload.on('error', () => {});
    done(problem, problem === null ? buffer.subarray(0, length) : undefined);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}
