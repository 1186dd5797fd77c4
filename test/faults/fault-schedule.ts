import type { Direction, Fault, FaultKind } from './fault.js';
import type { SeededRandom } from './seeded-random.js';

/** How often which fault strikes. */
export interface FaultMix {
  /** Share of requests that are struck, from 0 to 1. */
  readonly rate: number;
  readonly weights: Readonly<Record<FaultKind, number>>;
}

/** A bit of everything. Stalls are rare: each costs its caller the whole deadline. */
export const EVERYTHING: FaultMix = {
  rate: 0.06,
  weights: { tear: 45, stall: 6, late: 18, 'lost-reply': 21, delay: 10 },
};

/** Faults of one kind only. */
export function only(kind: FaultKind, rate: number): FaultMix {
  return { rate, weights: { tear: 0, stall: 0, late: 0, 'lost-reply': 0, delay: 0, [kind]: 1 } };
}

const DIRECTIONS: readonly Direction[] = ['request', 'reply'];
/** Longest pause of a delay and of a late request, in milliseconds. */
const LONGEST_MS = 120;

/** Gives the fault for the next request, if there is to be one. The sequence follows from the random source alone. */
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

/** Both ends are as likely as all that lies between them. */
function anyShare(random: SeededRandom): number {
  const place = random.next() * 3;
  return place < 1 ? 0 : place < 2 ? 1 : random.next();
}
