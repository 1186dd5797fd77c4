import { expect, it } from 'vitest';
import { MessageCutter } from './message-cutter.js';

/** The same numbers in each run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

it('ends a piece behind each blank line, however the bytes arrive', () => {
  const next = random(7);
  for (let round = 0; round < 2_000; round += 1) {
    const text = Array.from({ length: 1 + next(30) }, () => ['\r', '\n', '\r\n', 'a'][next(4)]).join('');
    const ends = [...text.matchAll(/(?<=\r\n\r\n)/g)].map(({ index }) => index);
    const cutter = new MessageCutter();
    const cuts = new Set<number>();
    for (let at = 0; at < text.length; ) {
      const read = Buffer.from(text.slice(at, at + 1 + next(6)));
      const length = cutter.cut(read);
      expect(length).toBeGreaterThan(0);
      at += length;
      cuts.add(at);
    }
    expect(ends.filter((end) => !cuts.has(end))).toEqual([]);
  }
});
