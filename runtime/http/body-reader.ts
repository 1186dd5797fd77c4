import type { Readable } from 'node:stream';
import { HttpProblem } from './problem.js';

/**
 * Reads a whole request body, `limit` bytes at most, whatever its type: what it is for is decided afterwards, so that
 * a refusal finds the connection in order.
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
  const chunks: Buffer[] = [];
  let length = 0;
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > limit) finish(tooLarge(limit));
    else chunks.push(chunk);
  };
  const onEnd = (): void => finish(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length));
  const onError = (cause: Error): void =>
    finish(new HttpProblem('HTTP_MALFORMED_REQUEST', 'The body broke off', { cause }));
  const finish = (problem: HttpProblem | null, body?: Buffer): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    // Without a listener, a connection that breaks while the rest is discarded would raise an uncaught error.
    if (problem !== null) payload.on('error', () => {});
    done(problem, body);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

function tooLarge(limit: number): HttpProblem {
  return new HttpProblem('HTTP_BODY_TOO_LARGE', `The body is larger than ${limit} bytes`);
}
