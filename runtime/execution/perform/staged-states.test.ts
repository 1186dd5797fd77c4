import { describe, expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { idOf, planOf } from '../../persistence/test-support/plans.js';
import { PendingPlan } from '../../persistence/write/pending-plan.js';
import { guestModel, newGuest } from '../test-support/guests.js';
import { StagedStates } from './staged-states.js';

const shard = ShardIdentifier.of(0, 0);
const other = ShardIdentifier.of(1, 0);

class Bench {
  readonly states = new StagedStates();

  publish(changes: string, on: ShardIdentifier = shard): PendingPlan {
    const pending = new PendingPlan();
    this.states.publish(planOf(...changes.split(' ')).items, pending, on);
    return pending;
  }

  version(row: string): number | undefined {
    return this.states.get(`Account/${idOf(row).getValue()}`)?.model.version;
  }

  isSuperseded(change: string): boolean {
    const [item] = planOf(change).items;
    return item !== undefined && this.states.isSuperseded(item);
  }
}

describe('staged states', () => {
  test('contain the states that a sealed plan changes and adds, but not those that it expects', () => {
    const bench = new Bench();
    const pending = bench.publish('a1>2 +b c1?');
    expect([bench.version('a'), bench.version('b'), bench.version('c')]).toEqual([2, 1, undefined]);
    expect(bench.states.get(`Account/${idOf('a').getValue()}`)?.pending).toBe(pending);
  });

  test('of a later plan stay when an earlier one is applied', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    first.settle(true);
    expect(bench.version('a')).toBe(3);
    second.settle(false);
    expect(bench.version('a')).toBeUndefined();
  });

  test('of an earlier pending plan are the latest again when a later one fails', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    const third = bench.publish('a3>4');
    second.settle(false);
    third.settle(false);
    expect(bench.version('a')).toBe(2);
    expect(bench.states.get(`Account/${idOf('a').getValue()}`)?.pending).toBe(first);
    first.settle(true);
    expect(bench.version('a')).toBeUndefined();
  });

  test('supersede plans that start from another version', () => {
    const bench = new Bench();
    bench.publish('a1>2');
    expect([
      bench.isSuperseded('a1>2'),
      bench.isSuperseded('a1?'),
      bench.isSuperseded('a2>3'),
      bench.isSuperseded('b1>2'),
    ]).toEqual([true, true, false, false]);
    expect(bench.isSuperseded('+a')).toBe(false);
  });

  test('list the pending plans of one shard, including superseded ones', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    bench.publish('b1>2', other);
    bench.publish('c1?');
    expect(bench.states.pendingPlans(shard)).toEqual([first, second]);
    second.settle(false);
    expect(bench.states.pendingPlans(shard)).toEqual([first]);
  });
});

describe('staged states of models with natural keys', () => {
  const descriptor = guestModel as unknown as StagedItem['descriptor'];
  const [ann, bob] = [newGuest('ann@hotel'), newGuest('bob@hotel')];
  const [key = ''] = heldKeys(ann);
  const add = (model: Entity): StagedItem => ({ kind: 'add', descriptor, model, events: [] });

  function publish(states: StagedStates, model: Entity): PendingPlan {
    const pending = new PendingPlan();
    states.publish([add(model)], pending, shard);
    return pending;
  }

  test('hold a key as long as the latest state of the model has it', () => {
    const states = new StagedStates();
    const dependencies = [ann, ann.stayed(), ann.stayed()].map((model) => publish(states, model));
    expect(states.holderOf(key)?.pending).toBe(dependencies[2]);
    dependencies[0]?.settle(true);
    expect(states.holderOf(key)?.pending).toBe(dependencies[2]);
    const renaming = publish(states, ann.renamed('ann@home'));
    expect(states.holderOf(key)).toBeUndefined();
    renaming.settle(false);
    expect(states.holderOf(key)?.pending).toBe(dependencies[2]);
    for (const pending of dependencies.slice(1)) pending.settle(true);
    expect(states.holderOf(key)).toBeUndefined();
  });

  test('name the holder of a key that another plan takes, unless that plan changes the holder', () => {
    const states = new StagedStates();
    expect(states.keyTakers([add(ann)])).toBeUndefined();
    const pending = publish(states, ann);
    expect(states.keyTakers(undefined)).toBeUndefined();
    expect(states.keyTakers([add(bob)])).toBeUndefined();
    expect(states.keyTakers([add(newGuest('ann@hotel'))])).toEqual({
      dependencies: [pending],
      constraint: expect.stringContaining('email'),
    });
    expect(states.keyTakers([add(newGuest('ann@hotel')), add(ann.renamed('ann@home'))])).toBeUndefined();
    pending.settle(true);
    expect(states.keyTakers([add(newGuest('ann@hotel'))])).toBeUndefined();
  });
});
