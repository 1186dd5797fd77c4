import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConsumerState } from './consumer-store.js';
import { chooseLeases, type LeaseSituation } from './lease-balance.js';

const NAMES = ['A', 'B', 'C', 'D', 'E', 'F'];

function consumerOf(name: string, holder: string | undefined): ConsumerState {
  const free = holder === undefined;
  return { name, handler: name, holder: holder ?? null, free, superseded: false, fence: '1' };
}

/** Lets processes survey in turn until no lease moves any more. Returns the leases that each one holds then. */
function settle(
  known: Readonly<Record<string, readonly string[]>>,
  rounds: number,
): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string>();
  const freeFor = new Map<string, number>();
  const processes = Object.entries(known).map(([id, handlers]) => ({ id, handlers }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { id, handlers } of processes) {
      const held = NAMES.filter((name) => holders.get(name) === id);
      for (const name of NAMES) freeFor.set(name, holders.has(name) ? 0 : (freeFor.get(name) ?? 0) + 1);
      const consumers = NAMES.map((name) => consumerOf(name, holders.get(name)));
      const situation = { process: id, known: handlers, consumers, processes, held, freeFor };
      const { acquire, release } = chooseLeases(situation);
      for (const name of release) holders.delete(name);
      for (const name of acquire) if (!holders.has(name)) holders.set(name, id);
    }
  }
  return new Map(processes.map(({ id }) => [id, NAMES.filter((name) => holders.get(name) === id)]));
}

describe('chooseLeases', () => {
  test('gives a single process all consumers that it knows', () => {
    expect(settle({ p: ['A', 'B'] }, 5).get('p')).toEqual(['A', 'B']);
  });

  test('balances equal processes to a difference of at most one', () => {
    const counts = [...settle({ p: NAMES, q: NAMES, r: NAMES }, 20).values()].map(({ length }) => length);
    expect(counts).toEqual([2, 2, 2]);
  });

  test('gives a process that joins later its share', () => {
    const early: LeaseSituation = {
      process: 'p',
      known: NAMES,
      consumers: NAMES.map((name) => consumerOf(name, 'p')),
      processes: [{ id: 'q', handlers: NAMES }],
      held: NAMES,
      freeFor: new Map(),
    };
    expect(chooseLeases(early).release).toHaveLength(1);
  });

  test('leaves no consumer without a holder that knows it, and moves no lease once balanced', () => {
    const handlers = fc.subarray(NAMES, { minLength: 1 });
    fc.assert(
      fc.property(fc.array(handlers, { minLength: 1, maxLength: 4 }), (sets) => {
        const known = Object.fromEntries(sets.map((set, index) => [`p${index}`, set]));
        const held = settle(known, 60);
        const all = new Set(sets.flat());
        const taken = [...held.values()].flat();
        expect(new Set(taken).size).toBe(taken.length);
        expect([...all].filter((name) => !taken.includes(name)).length).toBeLessThanOrEqual(1);
        for (const [id, names] of held) expect(names.every((name) => known[id]?.includes(name))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
