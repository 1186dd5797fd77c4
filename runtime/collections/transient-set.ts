/** An object that can be in one `TransientSet` at a time. */
export interface Slotted {
  /** Its index in the set, maintained by the set. -1 if it is in none. */
  slot: number;
}

/** The slot of an object that is in no set. */
export const NO_SLOT = -1;

/**
 * An unordered set of objects that come and go thousands of times a second. `TransientMap` explains why it is not a
 * `Set`.
 */
export class TransientSet<T extends Slotted> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** The member must not be in a set yet. */
  add(member: T): void {
    member.slot = this.#members.push(member) - 1;
  }

  /** No effect if the object is in no set. */
  delete(member: T): void {
    const { slot } = member;
    if (slot === NO_SLOT) return;
    member.slot = NO_SLOT;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[slot] = last;
    last.slot = slot;
  }

  /** The members that pass, as a copy. */
  filter(passes: (member: T) => boolean): readonly T[] {
    return this.#members.filter(passes);
  }
}
