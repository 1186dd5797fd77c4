import { describe, expect, test } from 'vitest';
import type { Entity } from '../../domain/entity.js';
import { copyWith, descriptorOf, noteRevision, rowOf } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { planOf } from '../../persistence/test-support/plans.js';
import { PendingPlan } from '../../persistence/write/pending-plan.js';
import { RememberedModels } from './remembered-models.js';
import { StagedStates } from './staged-states.js';

const shard = ShardIdentifier.of(0, 0);
const other = ShardIdentifier.of(1, 0);

/** The state that a change such as `a1>2` stages. */
function stateOf(change: string): Entity {
  const [item] = planOf(change).items;
  if (item === undefined) throw new Error(change);
  return item.model;
}

function memoryOf(maximum: number, facts: { notices?: boolean } = {}) {
  return new RememberedModels(maximum, {
    noticesServers: () => facts.notices ?? true,
    storesAsStaged: () => true,
    ready: () => undefined,
  });
}

function versionIn(memory: RememberedModels, change: string, action = 'Change'): number | undefined {
  return memory.guess(rowOf(stateOf(change)), action)?.version;
}

describe('remembered models', () => {
  test('are bounded, and the least recently used one goes first', () => {
    const memory = memoryOf(2);
    for (const change of ['a1>2', 'b1>2']) memory.keep(stateOf(change), memory.eraOf(shard));
    expect(versionIn(memory, 'a1>2')).toBe(2);
    memory.keep(stateOf('c1>2'), memory.eraOf(shard));
    expect(['a1>2', 'b1>2', 'c1>2'].map((change) => versionIn(memory, change))).toEqual([2, undefined, 2]);
  });

  test('are not large, and a large one takes the place of none', () => {
    const memory = memoryOf(2);
    const small = stateOf('a1>2');
    memory.keep(small, memory.eraOf(shard));
    const text = (length: number) => ({ nickname: 'x'.repeat(length), version: 3 });
    memory.keep(copyWith(descriptorOf(small), small, text(16_000)), memory.eraOf(shard));
    expect(versionIn(memory, 'a1>2')).toBe(3);
    memory.keep(copyWith(descriptorOf(small), small, text(17_000)), memory.eraOf(shard));
    expect(versionIn(memory, 'a1>2')).toBeUndefined();
  });

  test('are none with a limit of 0, or if a change of server would not be noticed', () => {
    for (const memory of [memoryOf(0), memoryOf(2, { notices: false })]) {
      memory.keep(stateOf('a1>2'), memory.eraOf(shard));
      expect(versionIn(memory, 'a1>2')).toBeUndefined();
    }
  });

  test('are never replaced by an older version', () => {
    const memory = memoryOf(2);
    for (const change of ['a2>3', 'a1>2']) memory.keep(stateOf(change), memory.eraOf(shard));
    expect(versionIn(memory, 'a1>2')).toBe(3);
  });

  test('are forgotten by shard, with the states that were being read or written', () => {
    const memory = memoryOf(9);
    const before = memory.eraOf(shard);
    memory.keep(stateOf('a1>2'), before);
    memory.keep(stateOf('b1>2'), memory.eraOf(other));
    memory.forget(shard);
    memory.keep(stateOf('c1>2'), before);
    memory.keepStaged(stateOf('d1>2'), shard, before);
    expect(['a1>2', 'b1>2', 'c1>2', 'd1>2'].map((change) => versionIn(memory, change))).toEqual([
      undefined,
      2,
      undefined,
      undefined,
    ]);
    memory.keep(stateOf('a1>2'), memory.eraOf(shard));
    expect(versionIn(memory, 'a1>2')).toBe(2);
  });

  test('are not guessed for longer and longer times while the guesses of an action fail', () => {
    const memory = memoryOf(9);
    const model = stateOf('a1>2');
    const guesses: number[] = [];
    for (let execution = 0; execution < 3_000; execution += 1) {
      memory.keep(model, memory.eraOf(shard));
      if (versionIn(memory, 'a1>2') === undefined) continue;
      guesses.push(execution);
      memory.failed('Change', model, true);
    }
    expect(guesses).toEqual([0, 5, 22, 87, 344, 1_369, 2_394]);
    expect(versionIn(memory, 'a1>2', 'Another')).toBe(2);
  });

  test.each([
    { applied: true, revision: '7', remembered: 2 },
    { applied: true, revision: undefined, remembered: undefined },
    { applied: false, revision: undefined, remembered: undefined },
  ])('are the staged states of plans that were applied by a known transaction: %o', (outcome) => {
    const memory = memoryOf(9);
    const staged = new StagedStates(memory);
    const pending = new PendingPlan();
    const { items } = planOf('a1>2');
    staged.publish(items, pending, shard);
    expect(versionIn(memory, 'a1>2')).toBeUndefined();
    for (const { model } of items) if (outcome.revision !== undefined) noteRevision(model, outcome.revision);
    pending.settle(outcome.applied);
    expect(versionIn(memory, 'a1>2')).toBe(outcome.remembered);
  });

  test('are guessed again after successes', () => {
    const memory = memoryOf(9);
    const model = stateOf('a1>2');
    memory.keep(model, memory.eraOf(shard));
    memory.failed('Change', model, false);
    const guessed = Array.from({ length: 5 }, () => versionIn(memory, 'a1>2'));
    expect(guessed).toEqual([undefined, undefined, undefined, undefined, 2]);
    memory.proven('Change', model);
    memory.proven('Change', model);
    memory.failed('Change', model, false);
    expect(Array.from({ length: 5 }, () => versionIn(memory, 'a1>2')).at(-1)).toBe(2);
  });
});
