import { describe, expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Link } from '../persistence/link.js';
import { idOf, planOf } from '../persistence/test-support/plans.js';
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
