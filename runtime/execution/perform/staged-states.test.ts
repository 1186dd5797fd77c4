import { describe, expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { idOf, planOf } from '../../persistence/test-support/plans.js';
import { Link } from '../../persistence/write/link.js';
import { guestModel, newGuest } from '../test-support/guests.js';
import { StagedStates } from './staged-states.js';

const shard = ShardIdentifier.of(0, 0);
const other = ShardIdentifier.of(1, 0);

class Bench {
  readonly states = new StagedStates();

  publish(changes: string, on: ShardIdentifier = shard): Link {
    const link = new Link();
    this.states.publish(planOf(...changes.split(' ')).items, link, on);
    return link;
  }

  version(row: string): number | undefined {
    return this.states.get(`Account/${idOf(row).getValue()}`)?.model.version;
  }

  isOutrun(change: string): boolean {
    const [item] = planOf(change).items;
    return item !== undefined && this.states.isOutrun(item);
  }
}

describe('staged states', () => {
  test('show what a sealed plan changes and adds, but not what it expects', () => {
    const bench = new Bench();
    const link = bench.publish('a1>2 +b c1?');
    expect([bench.version('a'), bench.version('b'), bench.version('c')]).toEqual([2, 1, undefined]);
    expect(bench.states.get(`Account/${idOf('a').getValue()}`)?.link).toBe(link);
  });

  test.each([true, false])('are gone when their plan is settled (applied: %s)', (applied) => {
    const bench = new Bench();
    bench.publish('a1>2').settle(applied);
    expect(bench.version('a')).toBeUndefined();
    expect(bench.states.pendingLinks(shard)).toEqual([]);
  });

  test('of a later plan stand when an earlier one is applied', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    first.settle(true);
    expect(bench.version('a')).toBe(3);
    second.settle(false);
    expect(bench.version('a')).toBeUndefined();
  });

  test('of an earlier plan come back when a later one fails while it is still under way', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    const third = bench.publish('a3>4');
    second.settle(false);
    third.settle(false);
    expect(bench.version('a')).toBe(2);
    expect(bench.states.get(`Account/${idOf('a').getValue()}`)?.link).toBe(first);
    first.settle(true);
    expect(bench.version('a')).toBeUndefined();
  });

  test('outrun who starts from another version', () => {
    const bench = new Bench();
    bench.publish('a1>2');
    expect([
      bench.isOutrun('a1>2'),
      bench.isOutrun('a1?'),
      bench.isOutrun('a2>3'),
      bench.isOutrun('b1>2'),
    ]).toEqual([true, true, false, false]);
    expect(bench.isOutrun('+a')).toBe(false);
  });

  test('name the plans under way on one shard, those too that later ones have overtaken', () => {
    const bench = new Bench();
    const first = bench.publish('a1>2');
    const second = bench.publish('a2>3');
    bench.publish('b1>2', other);
    bench.publish('c1?');
    expect(bench.states.pendingLinks(shard)).toEqual([first, second]);
    second.settle(false);
    expect(bench.states.pendingLinks(shard)).toEqual([first]);
  });
});

describe('staged states of models with natural keys', () => {
  const descriptor = guestModel as unknown as StagedItem['descriptor'];
  const [ann, bob] = [newGuest('ann@hotel'), newGuest('bob@hotel')];
  const [key = ''] = heldKeys(ann);
  const add = (model: Entity): StagedItem => ({ kind: 'add', descriptor, model, events: [] });

  function publish(states: StagedStates, model: Entity): Link {
    const link = new Link();
    states.publish([add(model)], link, shard);
    return link;
  }

  test('hold a key as long as the latest state of the model has it', () => {
    const states = new StagedStates();
    const links = [ann, ann.stayed(), ann.stayed()].map((model) => publish(states, model));
    expect(states.holderOf(key)?.link).toBe(links[2]);
    links[0]?.settle(true);
    expect(states.holderOf(key)?.link).toBe(links[2]);
    const renaming = publish(states, ann.renamed('ann@home'));
    expect(states.holderOf(key)).toBeUndefined();
    renaming.settle(false);
    expect(states.holderOf(key)?.link).toBe(links[2]);
    for (const link of links.slice(1)) link.settle(true);
    expect(states.holderOf(key)).toBeUndefined();
  });

  test('name who holds a key that another plan wants, unless that plan changes the holder', () => {
    const states = new StagedStates();
    expect(states.keyTakers([add(ann)])).toBeUndefined();
    const link = publish(states, ann);
    expect(states.keyTakers(undefined)).toBeUndefined();
    expect(states.keyTakers([add(bob)])).toBeUndefined();
    expect(states.keyTakers([add(newGuest('ann@hotel'))])).toEqual([link]);
    expect(states.keyTakers([add(newGuest('ann@hotel')), add(ann.renamed('ann@home'))])).toBeUndefined();
    link.settle(true);
    expect(states.keyTakers([add(newGuest('ann@hotel'))])).toBeUndefined();
  });
});
