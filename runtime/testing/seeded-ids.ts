import type { Clock } from '../domain/clock.js';
import { uuid7 } from '../domain/id-source.js';
import { VirtualClock } from './virtual-clock.js';

/**
 * Makes all ids of this process depend on a seed: two runs with one seed create the same ids in the same order. The
 * whole process shares the generator, so tests that use it must not run in parallel in one process.
 *
 * @param seed any integer; its lower 32 bits count
 * @param clock source of the ids' timestamps; default: a clock that stands at 2025-01-01T00:00:00Z
 * @returns a function that restores the system's clock and random numbers
 */
export function seededIds(seed: number, clock: Clock = new VirtualClock()): () => void {
  const nextByte = seededBytes(seed);
  uuid7.reset({
    nowMs: () => clock.now().getTime(),
    fillRandom: (target) => {
      for (let index = 0; index < target.length; index += 1) target[index] = nextByte();
    },
  });
  return () => uuid7.reset();
}

/** Marsaglia's xorshift with 32 bits of state: enough for distinct ids, unsuitable for secrets. */
function seededBytes(seed: number): () => number {
  // The state must not be 0, and small seeds must not give similar sequences: the product spreads their bits.
  let state = Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0xff;
  };
}
