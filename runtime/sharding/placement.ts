import { hash } from 'node:crypto';
import { time } from '../concurrency/time.js';
import type { MemberConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardUnavailableError, UnknownShardError } from '../errors.js';
import { onEachShard, SHARDS_AT_ONCE } from './each-shard.js';
import { INTERNAL_ACCESS } from './internal-access.js';
import type { ShardDatabase } from './shard-database.js';

/**
 * How a group's member is chosen for new ids. Draining members are never chosen.
 *
 * - `fixed`: always this member.
 * - `weighted`: at random, in proportion to each member's `weight`; with a key always the same one.
 * - `least-filled`: the member with the smallest database; members that do not answer are skipped.
 */
export type PlacementPolicy =
  | { readonly kind: 'fixed'; readonly member: number }
  | { readonly kind: 'weighted' }
  | { readonly kind: 'least-filled' };

/** Options of one choice. */
interface PlacementOptions {
  /**
   * An idempotency key, or another identifier of the request: with the same key `weighted` makes the same choice, while
   * the members and their weights stay the same.
   */
  readonly key?: string;
}

/** Settings of `Placement`. */
interface PlacementSettings {
  /** How long the sizes of databases are cached, in milliseconds. Default 60,000. */
  readonly sizesForMs?: number;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A member that does not report its size in this time is skipped, in milliseconds. */
const SIZE_TIMEOUT_MS = 1_000;
/** How long sizes are cached if a member has not reported its own, in milliseconds. */
const INCOMPLETE_FOR_MS = 1_000;

interface Sizes {
  until: number;
  /** The members that were asked. */
  readonly shards: readonly ShardIdentifier[];
  readonly bytes: Promise<ReadonlyMap<ShardIdentifier, number>>;
}

/** The part of a member's configuration that placement uses. */
type PlacedMember = Pick<MemberConfig, 'shard' | 'weight' | 'draining'>;

/** The part of a `DatabaseRegistry` that placement uses. */
interface PlacementSource {
  shards(): readonly ShardIdentifier[];
  /** Numbers of groups by their numbers or names; unknown groups are left out. */
  groupNumbers(groups: readonly (string | number)[]): ReadonlySet<number>;
  memberConfig(shard: ShardIdentifier): PlacedMember;
  database(shard: ShardIdentifier): Pick<ShardDatabase, 'query'>;
}

/** Chooses the shard of new ids. The bits of an id name its shard permanently. */
export class Placement {
  readonly #databases: PlacementSource;
  readonly #sizesForMs: number;
  readonly #random: () => number;
  readonly #sizes = new Map<number, Sizes>();

  constructor(databases: PlacementSource, settings: PlacementSettings = {}) {
    this.#databases = databases;
    this.#sizesForMs = settings.sizesForMs ?? 60_000;
    this.#random = settings.random ?? Math.random;
  }

  /** Whether the configuration has a group of this name. */
  hasGroup(name: string): boolean {
    return this.#databases.groupNumbers([name]).size > 0;
  }

  /**
   * A shard for a new id: `choose('mexico', { kind: 'weighted' }, { key: email })`.
   *
   * @param group number of the group, or its name in the configuration
   * @throws UnknownShardError if the group, or the fixed member, is not configured
   * @throws ShardUnavailableError if every member drains or does not answer
   */
  async choose(
    group: number | string,
    policy: PlacementPolicy,
    options: PlacementOptions = {},
  ): Promise<ShardIdentifier> {
    const number = this.#number(group);
    const members = this.#members(number);
    switch (policy.kind) {
      case 'fixed':
        return this.#fixed(number, policy.member, members);
      case 'weighted':
        return this.#weighted(number, open(number, members), options.key);
      case 'least-filled':
        return this.#leastFilled(number, open(number, members));
    }
  }

  #number(group: number | string): number {
    if (typeof group === 'number') return group;
    const [number] = this.#databases.groupNumbers([group]);
    if (number === undefined) throw new UnknownShardError(`(${group}, any)`);
    return number;
  }

  #members(group: number): readonly PlacedMember[] {
    const shards = this.#databases.shards().filter((shard) => shard.group === group);
    if (shards.length === 0) throw new UnknownShardError(`(${group}, any)`);
    return shards.map((shard) => this.#databases.memberConfig(shard));
  }

  #fixed(group: number, number: number, members: readonly PlacedMember[]): ShardIdentifier {
    const member = members.find(({ shard }) => shard.member === number);
    if (member === undefined) throw new UnknownShardError(`(${group}, ${number})`);
    if (member.draining === true) throw new ShardUnavailableError(member.shard.toString(), DRAINING);
    return member.shard;
  }

  /**
   * The member with the highest score wins (rendezvous hashing): when a member is added or drained, keys of other
   * members keep their choice.
   */
  #weighted(group: number, members: readonly PlacedMember[], key: string | undefined): ShardIdentifier {
    let best: { readonly shard: ShardIdentifier; readonly score: number } | undefined;
    for (const { shard, weight = 1 } of members) {
      if (weight === 0) continue;
      const chance = key === undefined ? 1 - this.#random() : fraction(`${shard.toString()} ${key}`);
      const score = -weight / Math.log(chance);
      if (best === undefined || score > best.score) best = { shard, score };
    }
    if (best === undefined)
      throw new ShardUnavailableError(`(${group}, any)`, 'all members have the weight 0');
    return best.shard;
  }

  async #leastFilled(group: number, members: readonly PlacedMember[]): Promise<ShardIdentifier> {
    const sizes = await this.#sizesOf(group, members);
    const known = members.filter(({ shard }) => sizes.has(shard));
    const [smallest] = known.sort((a, b) => (sizes.get(a.shard) ?? 0) - (sizes.get(b.shard) ?? 0));
    if (smallest === undefined)
      throw new ShardUnavailableError(`(${group}, any)`, 'no member reports its size');
    return smallest.shard;
  }

  #sizesOf(group: number, members: readonly PlacedMember[]): Sizes['bytes'] {
    const known = this.#sizes.get(group);
    const isComplete = members.every(({ shard }) => known?.shards.includes(shard));
    if (known !== undefined && isComplete && known.until > time.nowMs()) return known.bytes;
    const shards = members.map(({ shard }) => shard);
    const bytes = this.#measure(shards);
    const sizes: Sizes = { until: time.nowMs() + this.#sizesForMs, shards, bytes };
    this.#sizes.set(group, sizes);
    // A member that was out of reach for a moment must not be left out for as long.
    void bytes.then(({ size }) => {
      if (size < members.length) sizes.until = Math.min(sizes.until, time.nowMs() + INCOMPLETE_FOR_MS);
    });
    return bytes;
  }

  async #measure(shards: readonly ShardIdentifier[]): Promise<ReadonlyMap<ShardIdentifier, number>> {
    const statement = { text: 'select pg_database_size(current_database())::float8', values: [] };
    // A size is not a model that an action reads, so it may be queried inside `perform`.
    const options = { timeoutMs: SIZE_TIMEOUT_MS, access: INTERNAL_ACCESS } as const;
    const outcomes = await onEachShard(shards, SHARDS_AT_ONCE, async (shard) => {
      const { rows } = await this.#databases.database(shard).query(statement, options);
      return Number(rows[0]?.[0]);
    });
    return new Map(
      outcomes.flatMap((outcome) => (outcome.ok ? [[outcome.shard, outcome.value] as const] : [])),
    );
  }
}

const DRAINING = 'it is draining and takes no new ids';

function open(group: number, members: readonly PlacedMember[]): readonly PlacedMember[] {
  const left = members.filter(({ draining }) => draining !== true);
  if (left.length === 0) throw new ShardUnavailableError(`(${group}, any)`, 'all members are draining');
  return left;
}

/** A number between 0 and 1, both excluded, the same for the same text. */
function fraction(text: string): number {
  const digest = hash('sha256', text, 'buffer');
  return (digest.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
