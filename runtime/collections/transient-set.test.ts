import { describe, expect, test } from 'vitest';
import { NO_SLOT, type Slotted, TransientSet } from './transient-set.js';

class Member implements Slotted {
  slot = NO_SLOT;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

describe('a transient set', () => {
  test('contains the members that were added and not removed, in any order', () => {
    const [a, b, c, d] = [new Member('a'), new Member('b'), new Member('c'), new Member('d')];
    const set = new TransientSet<Member>();
    const names = (): string =>
      set
        .filter(() => true)
        .map(({ name }) => name)
        .sort()
        .join('');
    for (const member of [a, b, c, d]) set.add(member);
    set.delete(b);
    expect([names(), set.size]).toEqual(['acd', 3]);
    set.delete(d);
    set.delete(d);
    set.add(b);
    expect([names(), set.size]).toEqual(['abc', 3]);
    for (const member of [a, b, c]) set.delete(member);
    expect([names(), set.size, [a, b, c, d].map(({ slot }) => slot)]).toEqual(['', 0, [-1, -1, -1, -1]]);
  });

  test('returns the members that pass, even if the predicate removes them', () => {
    const set = new TransientSet<Member>();
    for (const name of ['a', 'b', 'c']) set.add(new Member(name));
    const found = set.filter(({ name }) => name !== 'b');
    for (const member of found) set.delete(member);
    expect(found.map(({ name }) => name).sort()).toEqual(['a', 'c']);
    expect(set.filter(() => true).map(({ name }) => name)).toEqual(['b']);
  });
});
