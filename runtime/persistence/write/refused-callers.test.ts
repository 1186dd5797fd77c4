import { expect, test } from 'vitest';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { FlushRequest, ShardStore } from '../shard-store.js';
import { planOf } from '../test-support/plans.js';
import type { PlanWrite } from './plan-write.js';
import { RefusedCallers } from './refused-callers.js';
import { ShardWriter } from './shard-writer.js';

const OVERFLOW = new DriverFailure('numeric field overflow', { phase: 'answered', sqlState: '22003' });

/** Sizes of the statements that a writer sends to a store that takes no plan of these. */
class Statements {
  readonly refused = new Set<PlanWrite>();
  readonly sizes: number[] = [];
  readonly writer: ShardWriter;

  constructor() {
    const store = { flush: (request: FlushRequest) => this.#flush(request) } as unknown as ShardStore;
    this.writer = new ShardWriter(store, ShardIdentifier.of(0, 0));
  }

  async #flush({ groups }: FlushRequest): ReturnType<ShardStore['flush']> {
    this.sizes.push(groups.length);
    await new Promise((resolve) => setImmediate(resolve));
    if (groups.flat().some((plan) => this.refused.has(plan))) throw OVERFLOW;
    return groups.map(() => 'applied');
  }

  /** One round of callers at a time, every second one refused on request. @returns the sizes of the statements */
  async round(isRefused: boolean): Promise<readonly number[]> {
    this.sizes.length = 0;
    const plans = Array.from({ length: 60 }, (_, index) => {
      const principal = index % 2 === 0 ? 'honest' : 'other';
      const plan = planOf();
      const named = { ...plan, action: { ...plan.action, name: 'Deposit', principal } };
      if (isRefused && principal === 'other') this.refused.add(named);
      return named;
    });
    const ends = await Promise.allSettled(
      plans.map((plan) => this.writer.submit(plan, { timeoutMs: 60_000 }).outcome),
    );
    for (const end of ends)
      if (end.status === 'fulfilled') expect(end.value).toMatchObject({ kind: 'applied', contended: false });
    expect(ends.map(({ status }) => status)).toEqual(
      plans.map((plan) => (this.refused.has(plan) ? 'rejected' : 'fulfilled')),
    );
    return [...this.sizes];
  }
}

test('a caller whose plans the server refuses sends alone, and the statements of others stay whole', async () => {
  const statements = new Statements();
  expect((await statements.round(true)).length).toBeGreaterThan(60);
  for (let round = 0; round < 3; round += 1) {
    const sizes = await statements.round(true);
    expect(sizes.filter((size) => size > 1)).toEqual([30]);
    expect(sizes).toHaveLength(31);
  }
});

test('it sends with others again once its plans are applied', async () => {
  const statements = new Statements();
  await statements.round(true);
  expect(await statements.round(false)).toHaveLength(31);
  const sizes = await statements.round(false);
  expect(sizes.every((size) => size > 1)).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(60);
});

function planBy(principal: string): PlanWrite {
  const plan = planOf();
  return { ...plan, action: { ...plan.action, name: 'Deposit', principal } };
}

test('a caller is not set apart for a few refusals among many plans', () => {
  const callers = new RefusedCallers();
  const plan = planBy('anna');
  for (let round = 0; round < 50; round += 1) {
    callers.refused(plan, OVERFLOW);
    for (let applied = 0; applied < 12; applied += 1) callers.applied(plan);
  }
  expect(callers.isAlone(plan)).toBe(false);
});

test('constraints set a caller apart, and locked rows do not', () => {
  const callers = new RefusedCallers();
  const facts = { phase: 'answered', schema: 'public', table: 'accounts', constraint: 'c' } as const;
  for (const sqlState of ['40001', '55P03']) {
    for (let count = 0; count < 9; count += 1) {
      callers.refused(planBy('anna'), new DriverFailure('refused', { ...facts, sqlState }));
    }
  }
  expect(callers.isAlone(planBy('anna'))).toBe(false);
  const refused = new DriverFailure('refused', { ...facts, sqlState: '23505' });
  for (let count = 0; count < 2; count += 1) callers.refused(planBy('anna'), refused);
  expect(callers.isAlone(planBy('anna'))).toBe(true);
});

test('so many callers are remembered at most', () => {
  const callers = new RefusedCallers();
  for (let caller = 0; caller < 300; caller += 1) {
    for (let count = 0; count < 2; count += 1) callers.refused(planBy(`caller ${caller}`), OVERFLOW);
  }
  expect(callers.isAlone(planBy('caller 0'))).toBe(false);
  expect(callers.isAlone(planBy('caller 299'))).toBe(true);
});
