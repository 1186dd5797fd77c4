import { ValidationError } from '../errors.js';

/** Maximum group number: an id has 8 group bits. */
export const MAX_GROUP = 255;
/** Maximum member number: an id has 6 member bits. */
export const MAX_MEMBER = 63;

/**
 * Identifies one database: a group (policy boundary) and a member (one database of the group). There is one instance
 * per shard, so compare with `===`.
 */
export class ShardIdentifier {
  static readonly #interned: (ShardIdentifier | undefined)[] = [];

  /** 0..255 */
  readonly group: number;
  /** 0..63 */
  readonly member: number;
  /** Group and member as the 14 bits that an id carries: `group << 6 | member`. */
  readonly bits: number;

  private constructor(group: number, member: number) {
    this.group = group;
    this.member = member;
    this.bits = (group << 6) | member;
    Object.freeze(this);
  }

  /** The shard with these numbers. @throws ValidationError unless group is 0..255 and member is 0..63 */
  static of(group: number, member: number): ShardIdentifier {
    checkRange('group', group, MAX_GROUP);
    checkRange('member', member, MAX_MEMBER);
    return ShardIdentifier.fromBits((group << 6) | member);
  }

  /** The shard with these 14 bits (`group << 6 | member`). */
  static fromBits(bits: number): ShardIdentifier {
    const known = ShardIdentifier.#interned[bits];
    if (known !== undefined) return known;
    const shard = new ShardIdentifier((bits >> 6) & MAX_GROUP, bits & MAX_MEMBER);
    ShardIdentifier.#interned[bits] = shard;
    return shard;
  }

  equals(other: ShardIdentifier): boolean {
    return this.bits === other.bits;
  }

  toString(): string {
    return `(${this.group}, ${this.member})`;
  }
}

function checkRange(name: 'group' | 'member', value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new ValidationError(`Shard ${name} must be an integer from 0 to ${max}, got ${String(value)}`);
  }
}
