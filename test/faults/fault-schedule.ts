import type { Direction, Fault, FaultKind } from './fault.js';
import type { SeededRandom } from './seeded-random.js';

/** The frequency of faults. */
export interface FaultMix {
  /** Share of requests with a fault, from 0 to 1. */
  readonly rate: number;
  readonly weights: Readonly<Record<FaultKind, number>>;
}

/** All kinds of faults. Stalls are rare, because each costs its caller the whole deadline. */
export const EVERYTHING: FaultMix = {
  rate: 0.06,
  weights: { tear: 45, stall: 6, late: 18, 'lost-reply': 21, delay: 10 },
};

/** Faults of one kind only. */
export function only(kind: FaultKind, rate: number): FaultMix {
  return { rate, weights: { tear: 0, stall: 0, late: 0, 'lost-reply': 0, delay: 0, [kind]: 1 } };
}

const DIRECTIONS: readonly Direction[] = ['request', 'reply'];
/** Maximum duration of a delay and of a late request, in milliseconds. */
const LONGEST_MS = 120;

/** Returns the fault of the next request, if any. The sequence depends only on the random source. */
export function faultSchedule(random: SeededRandom, { rate, weights }: FaultMix): () => Fault | undefined {
  return () => (random.chance(rate) ? makeFault(random, random.weighted(weights)) : undefined);
}

function makeFault(random: SeededRandom, kind: FaultKind): Fault {
  const direction = random.pick(DIRECTIONS) ?? 'request';
  const delayMs = 1 + random.below(LONGEST_MS);
  switch (kind) {
    case 'tear':
      return { kind, direction, share: anyShare(random), how: random.chance(0.5) ? 'reset' : 'end' };
    case 'stall':
      return { kind, direction, share: anyShare(random) };
    case 'late':
      return { kind, delayMs };
    case 'lost-reply':
      return { kind };
    case 'delay':
      return { kind, direction, delayMs };
  }
}

/** Both ends are as likely as all values between them together. */
function anyShare(random: SeededRandom): number {
  const place = random.next() * 3;
  return place < 1 ? 0 : place < 2 ? 1 : random.next();
}
