/** Something that can be in one `TransientSet` at a time. */
export interface Slotted {
  /** Its place there, kept by the set. -1 outside. */
  slot: number;
}

/** The slot of what is in no set. */
export const NO_SLOT = -1;

/** A set of objects that come and go thousands of times a second, in no order. Why no `Set`: see `TransientMap`. */
export class TransientSet<T extends Slotted> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** The member must be in no set yet. */
  add(member: T): void {
    member.slot = this.#members.push(member) - 1;
  }

  /** Does nothing for what is in no set. */
  delete(member: T): void {
    const { slot } = member;
    if (slot === NO_SLOT) return;
    member.slot = NO_SLOT;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[slot] = last;
    last.slot = slot;
  }

  /** The members that pass, as they are now. */
  filter(passes: (member: T) => boolean): readonly T[] {
    return this.#members.filter(passes);
  }
}
