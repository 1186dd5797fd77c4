import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { TransientMap } from './transient-map.js';
import { NO_SLOT, type Slotted, TransientSet } from './transient-set.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/** Members at a time: one in ten survives a collection, and none survives two. */
const LIVE = 50;
const PER_COLLECTION = 500;
const COLLECTIONS = 200;
const LOAD_BYTES = 400;
const ALL_BYTES = COLLECTIONS * PER_COLLECTION * LOAD_BYTES;

class Member implements Slotted {
  slot = NO_SLOT;
  readonly load: readonly number[] = new Array<number>(LOAD_BYTES / 8).fill(0.5);
}

/** Bytes of the old generation after many members were added and soon removed. */
function keptAfter(
  add: (member: Member, count: number) => void,
  remove: (member: Member, count: number) => void,
): number {
  const window: Member[] = [];
  const pass = (from: number): void => {
    for (let count = from; count < from + PER_COLLECTION; count += 1) {
      const slot = count % LIVE;
      const oldest = window[slot];
      if (oldest !== undefined) remove(oldest, count - LIVE);
      const member = new Member();
      window[slot] = member;
      add(member, count);
    }
  };
  pass(0);
  collect();
  const before = oldGeneration();
  for (let round = 1; round <= COLLECTIONS; round += 1) {
    pass(round * PER_COLLECTION);
    collect({ type: 'minor' });
  }
  return oldGeneration() - before;
}

function oldGeneration(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('old'));
  return spaces.reduce((sum, space) => sum + space.space_used_size, 0);
}

test('entries removed from a map are garbage at once', () => {
  const map = new TransientMap<Member>();
  const key = (count: number): string => `Account/${count}`;
  const kept = keptAfter(
    (member, count) => map.set(key(count), member),
    (_, count) => map.delete(key(count)),
  );
  expect(kept).toBeLessThan(ALL_BYTES / 5);
});

test('members removed from a set are garbage at once', () => {
  const set = new TransientSet<Member>();
  const kept = keptAfter(
    (member) => set.add(member),
    (member) => set.delete(member),
  );
  expect(kept).toBeLessThan(ALL_BYTES / 5);
});
