import { describe, expect, test } from 'vitest';
import { systemClock } from '../../domain/clock.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountModel } from '../../domain/test-support/account.js';
import { idOf, planOf } from '../../persistence/test-support/plans.js';
import { PendingPlan } from '../../persistence/write/pending-plan.js';
import { PerformRun } from './perform-run.js';
import { StagedStates } from './staged-states.js';

/** The shard of the rows of `planOf`, and a shard without rows. */
const shard = ShardIdentifier.of(0, 0);
const other = ShardIdentifier.of(1, 0);

class Bench {
  readonly staged = new StagedStates();

  publish(changes: string, on = shard): PendingPlan {
    const pending = new PendingPlan();
    this.staged.publish(planOf(changes).items, pending, on);
    return pending;
  }

  run(chaining = true): PerformRun {
    return new PerformRun({
      ...{ actionName: 'test', clock: systemClock, signal: undefined, remainingMs: () => 1_000 },
      ...{ staged: this.staged, defaultShard: shard, chaining },
    });
  }
}

/** The version that a run reads; undefined if it has to query the database, which has no rows here. */
async function read(run: PerformRun, row: string): Promise<number | undefined> {
  const model = await run.reads.read({ model: accountModel, id: idOf(row).getValue(), shard }, () =>
    Promise.resolve(undefined),
  );
  return model?.version;
}

/** Whether a query on this shard could already start. */
async function mayQuery(run: PerformRun, on: ShardIdentifier): Promise<() => boolean> {
  let ready = false;
  void run.reads.beforeQuery(on).then(() => {
    ready = true;
  });
  await new Promise(setImmediate);
  return () => ready;
}

describe('a run of perform', () => {
  test('depends on the plans whose staged states it has read', async () => {
    const bench = new Bench();
    const pending = bench.publish('a1>2');
    const run = bench.run();
    expect([await read(run, 'a'), await read(run, 'b')]).toEqual([2, undefined]);
    expect(run.reads.dependencies).toEqual([pending]);
    expect([run.reads.dependsOnAnother(shard), run.reads.dependsOnAnother(other)]).toEqual([false, true]);
    pending.settle(true);
    expect(run.reads.dependsOnAnother(other)).toBe(false);
  });

  test('without chaining sees no staged states and waits for no plan', async () => {
    const bench = new Bench();
    bench.publish('a1>2');
    const run = bench.run(false);
    expect([await read(run, 'a'), run.reads.dependencies, run.reads.chaining]).toEqual([
      undefined,
      [],
      false,
    ]);
    expect((await mayQuery(run, shard))()).toBe(true);
  });

  test('waits before a query for the staged states of that shard, and chains no further', async () => {
    const bench = new Bench();
    const pending = bench.publish('a1>2');
    const run = bench.run();
    const ready = await mayQuery(run, shard);
    expect([ready(), run.reads.chaining, await read(run, 'a')]).toEqual([false, false, undefined]);
    pending.settle(false);
    await new Promise(setImmediate);
    expect(ready()).toBe(true);
  });

  test('does not wait for another shard that it has not read', async () => {
    const bench = new Bench();
    bench.publish('a1>2');
    expect((await mayQuery(bench.run(), other))()).toBe(true);
  });

  test('waits for staged states of another shard that it has read, because later reads must not be older', async () => {
    const bench = new Bench();
    const pending = bench.publish('a1>2');
    const run = bench.run();
    expect(await read(run, 'a')).toBe(2);
    expect(idOf('a')).toBeInstanceOf(ShardedId);
    const ready = await mayQuery(run, other);
    expect(ready()).toBe(false);
    pending.settle(true);
    await new Promise(setImmediate);
    expect(ready()).toBe(true);
  });

  test('reads a state that was staged while it queried the database', async () => {
    const bench = new Bench();
    const run = bench.run();
    const found = run.reads.read({ model: accountModel, id: idOf('a').getValue(), shard }, async () => {
      bench.publish('a1>2');
      return undefined;
    });
    expect((await found)?.version).toBe(2);
    expect(run.reads.dependencies).toHaveLength(1);
  });

  test('prefers the stored state to an older staged one, and does not depend on the latter', async () => {
    const bench = new Bench();
    const run = bench.run();
    const stored = planOf('a4>5').items[0]?.model;
    const found = run.reads.read({ model: accountModel, id: idOf('a').getValue(), shard }, async () => {
      bench.publish('a1>2');
      return stored;
    });
    expect(await found).toBe(stored);
    expect(run.reads.dependencies).toEqual([]);
  });

  test('starts from the states that concurrent readers of the same model have staged', async () => {
    const bench = new Bench();
    bench.publish('a1>2');
    const seen: (number | undefined)[] = [];
    const perform = async (): Promise<void> => {
      const version = await read(bench.run(), 'a');
      seen.push(version);
      for (let hops = 0; hops < 5; hops += 1) await Promise.resolve();
      bench.publish(`a${version}>${Number(version) + 1}`);
    };
    await Promise.all(Array.from({ length: 5 }, perform));
    expect(seen).toEqual([2, 3, 4, 5, 6]);
  });
});
