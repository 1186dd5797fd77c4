import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { MemoryStore } from '../test-support/memory-store.js';
import { planOf } from '../test-support/plans.js';
import type { PendingPlan } from './pending-plan.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';
import { DEFAULT_WRITER_LIMITS } from './writer-limits.js';

const ROWS = ['a', 'b', 'c'] as const;

/** A plan to be made when its turn comes: from what is staged then, if it chains. */
const intents = fc.array(
  fc.record({
    updates: fc.uniqueArray(fc.constantFrom(...ROWS), { minLength: 1, maxLength: 2 }),
    chained: fc.boolean(),
    guilty: fc.nat(9).map((dice) => dice === 0),
    aborted: fc.nat(9).map((dice) => dice === 0),
    pause: fc.nat(2),
  }),
  { minLength: 1, maxLength: 40 },
);

interface Sent {
  readonly plan: PlanWrite;
  readonly dependsOn: readonly Sent[];
  readonly pending: PendingPlan;
  readonly end: Promise<string>;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test('whatever fails, is locked or is aborted: every plan gets one true answer, and chains hold together', async () => {
  await fc.assert(
    fc.asyncProperty(
      intents,
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (drawn, dice) => {
        const random = (): number => dice.next().value;
        const guilty = new Set<PlanWrite>();
        const memory = new MemoryStore({ random, isGuilty: (plan) => guilty.has(plan), locked: 0.3 });
        const limits = { ...DEFAULT_WRITER_LIMITS, maximumBatch: 6, maximumWaiting: 2 };
        const writer = new ShardWriter(memory.store, ShardIdentifier.of(0, 0), limits);
        const latest = new Map<string, { readonly version: number; readonly by: Sent }>();
        const sent: Sent[] = [];
        for (const { updates, chained, guilty: isGuilty, aborted, pause } of drawn) {
          const seen = updates.map((row) => {
            const state = latest.get(row);
            return chained && state?.by.pending.state === 'pending' ? state : undefined;
          });
          const plan = planOf(
            ...updates.map((row, index) => {
              const from = seen[index]?.version ?? memory.versions.get(keyOf(row)) ?? 1;
              return `${row}${from}>${from + 1}`;
            }),
          );
          if (isGuilty) guilty.add(plan);
          const dependsOn = seen.flatMap((state) => (state === undefined ? [] : [state.by]));
          const signal = aborted ? AbortSignal.abort() : undefined;
          const { pending, outcome } = writer.submit(plan, {
            timeoutMs: 60_000,
            dependsOn: dependsOn.map((other) => other.pending),
            signal,
          });
          const end = outcome.then(
            ({ kind }) => kind,
            () => 'failed',
          );
          const entry = { plan, dependsOn, pending, end };
          sent.push(entry);
          plan.items.forEach(({ model }, index) => {
            const row = updates[index];
            if (row !== undefined) latest.set(row, { version: model.version, by: entry });
          });
          for (let turn = 0; turn < pause; turn += 1) await nextTurn();
        }
        const ends = await Promise.all(sent.map(({ end }) => end));
        await nextTurn();
        expect(memory.objections).toEqual([]);
        const position = new Map(memory.applied.map((plan, index) => [plan, index]));
        expect(position.size).toBe(memory.applied.length);
        sent.forEach(({ plan, dependsOn, pending }, index) => {
          const at = position.get(plan);
          expect(ends[index] === 'applied').toBe(at !== undefined);
          expect(pending.state).toBe(at === undefined ? 'failed' : 'applied');
          if (at === undefined) return;
          for (const other of dependsOn) expect(position.get(other.plan) ?? Number.NaN).toBeLessThan(at);
        });
        expect(writer.queued).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

function keyOf(row: string): string {
  const [item] = planOf(`${row}1>2`).items;
  return `${item?.descriptor.name}/${item?.model.id.getValue()}`;
}
