import fc from 'fast-check';
import { validate, version } from 'uuid';
import { describe, expect, test } from 'vitest';
import { type IdSource, Uuid7Generator } from './id-source.js';

const START_MS = Date.UTC(2025, 0, 1);

/** A source whose clock returns these times and then stays at the last one; every random byte is `byte`. */
function sourceOf(moments: readonly number[], byte = 0): IdSource {
  let next = 0;
  return {
    nowMs: () => moments[Math.min(next++, moments.length - 1)] ?? START_MS,
    fillRandom: (target) => void target.fill(byte),
  };
}

/** The timestamp in milliseconds: the first 48 bits of a UUID of version 7. */
function timestampOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

function counterOf(uuid: string): number {
  return Number.parseInt(uuid.slice(15, 18), 16);
}

function expectIncreasing(ids: readonly string[]): void {
  ids.forEach((id, index) => {
    const previous = ids[index - 1] ?? '';
    if (id <= previous) expect.fail(`id ${index} does not increase: ${previous} then ${id}`);
  });
}

describe('Uuid7Generator', () => {
  test('creates UUIDs of version 7 with the variant of RFC 9562', () => {
    const generator = new Uuid7Generator();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x3fff }), (bits) => {
        const uuid = generator.next(bits);
        expect(validate(uuid)).toBe(true);
        expect(version(uuid)).toBe(7);
        expect(uuid[19]).toMatch(/[89ab]/);
        expect(Number.parseInt(uuid.slice(19, 23), 16) & 0x3fff).toBe(bits);
      }),
    );
  });

  test('seeds the counter at random, in its lower half, in each millisecond', () => {
    const seeds = [0, 1, 0x7f, 0xff].map((byte) =>
      counterOf(new Uuid7Generator(sourceOf([START_MS], byte)).next(0)),
    );
    expect(seeds).toEqual([0, 0x101, 0x77f, 0x7ff]);
  });

  test('keeps the last 48 bits random', () => {
    const tails = new Set<string>();
    const generator = new Uuid7Generator();
    for (let count = 0; count < 10_000; count += 1) tails.add(generator.next(0x3fff).slice(24));
    expect(tails.size).toBe(10_000);
  });

  test('creates strictly increasing ids while the clock stands still, past the end of the counter', () => {
    const generator = new Uuid7Generator(sourceOf([START_MS], 0xff));
    const ids = Array.from({ length: 100_000 }, () => generator.next(0x1234));
    expectIncreasing(ids);
    // The counter starts at 2047 of 4095 here, so the timestamp advances after every 2,049 ids.
    expect(timestampOf(ids.at(-1) ?? '')).toBe(START_MS + Math.floor(99_999 / 2_049));
  });

  test('creates strictly increasing ids while the clock jumps, even backwards', () => {
    const jumps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(jumps, fc.integer({ min: 0, max: 255 }), (offsets, byte) => {
        const generator = new Uuid7Generator(
          sourceOf(
            offsets.map((offset) => START_MS + offset),
            byte,
          ),
        );
        expectIncreasing(offsets.map((_, index) => generator.next((index * 7_919) & 0x3fff)));
      }),
    );
  });

  test('stays ahead of a clock that stepped back until the clock catches up', () => {
    const generator = new Uuid7Generator(sourceOf([START_MS, START_MS - 3_600_000, START_MS + 1]));
    const stamps = [generator.next(0), generator.next(0), generator.next(0)].map(timestampOf);
    expect(stamps).toEqual([START_MS, START_MS, START_MS + 1]);
  });
});
