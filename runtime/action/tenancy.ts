import { Entity } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import type { Principal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ForbiddenError } from '../errors.js';

/**
 * The groups of shards that a principal may reach, by their numbers or their names in the configuration; `'all'` for every
 * group. What is asked of it are claims: an id that a caller sends proves nothing.
 */
export type Tenancy = (principal: Principal) => 'all' | readonly (string | number)[];

/**
 * Groups by a claim: one name, or a list of names. A principal without the claim reaches none.
 *
 * @param reachesAll whether a principal reaches every group. Default: none does
 */
export function groupsByClaim(
  claim: string,
  reachesAll: (principal: Principal) => boolean = () => false,
): Tenancy {
  return (principal) => {
    if (reachesAll(principal)) return 'all';
    const value: unknown = principal.claims[claim];
    const names: readonly unknown[] = Array.isArray(value) ? value : [value];
    return names.filter((name) => typeof name === 'string');
  };
}

/** The groups that one principal may reach. Models without a sharded id belong to no group: every principal reaches them. */
export class Reach {
  readonly #principal: Principal;
  readonly #groups: ReadonlySet<number>;

  /** @param groups their numbers */
  constructor(principal: Principal, groups: ReadonlySet<number>) {
    this.#principal = principal;
    this.#groups = groups;
  }

  allows({ group }: ShardIdentifier): boolean {
    return this.#groups.has(group);
  }

  /** @throws ForbiddenError for a shard of another group */
  require(shard: ShardIdentifier): void {
    if (!this.allows(shard))
      throw new ForbiddenError(`${this.#principal.name} may not reach group ${shard.group}`);
  }

  /**
   * Looks for ids in params, results and whatever else is made of objects and lists.
   *
   * @throws ForbiddenError for an id of another group, wherever it stands
   */
  requireIds(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof ShardedId) this.require(value.resolveShardIdentifier());
    else if (value instanceof Entity) this.requireIds(value.id);
    else if (Array.isArray(value)) for (const item of value) this.requireIds(item);
    else if (isPlain(value)) for (const item of Object.values(value)) this.requireIds(item);
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
