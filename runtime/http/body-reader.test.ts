import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { readBody } from './body-reader.js';
import { HttpProblem } from './problem.js';

const LIMIT = 65_536;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Reads these pieces as a body. */
function read(pieces: readonly Buffer[], limit: number = LIMIT): Promise<Buffer | HttpProblem> {
  const payload = new PassThrough();
  return new Promise((resolve) => {
    readBody(payload, undefined, limit, (problem, body) => resolve(problem ?? body ?? Buffer.alloc(0)));
    for (const piece of pieces) payload.write(piece);
    payload.end();
  });
}

describe('A body', () => {
  it('does not copy its first piece', async () => {
    const memory = Buffer.from('abXX');
    expect(String(await read([memory.subarray(0, 2), Buffer.from('cd')]))).toBe('abcd');
    expect(String(memory)).toBe('abXX');
  });

  it.each([LIMIT, LIMIT + 1])('of %i bytes in chunks of one byte counts each of them', async (length) => {
    const body = await read(Array.from({ length }, () => Buffer.from('x')));
    if (length > LIMIT) expect(body).toBeInstanceOf(HttpProblem);
    else expect(String(body)).toBe('x'.repeat(length));
  });

  it('keeps none of its pieces, for any number of pieces', async () => {
    const payload = new PassThrough();
    readBody(payload, undefined, LIMIT, () => {});
    const pieces: WeakRef<Buffer>[] = [];
    for (let count = 0; count < 100; count += 1) {
      const piece = Buffer.from('x');
      pieces.push(new WeakRef(piece));
      payload.write(piece);
    }
    // A weak reference holds what it refers to until the present turn has ended.
    await vi.waitFor(() => {
      collectGarbage();
      expect(pieces.filter((piece) => piece.deref() !== undefined).length).toBeLessThan(5);
    });
    payload.destroy();
  });
});
