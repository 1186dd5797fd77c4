import { Entity } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import { isPlainObject } from '../domain/json.js';
import type { KnownPrincipal, Principal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ForbiddenError } from '../errors.js';

/**
 * Returns the groups of shards that a principal may reach, by their numbers or their configured names; `'all'` for
 * every group. It decides by claims: an id that a caller sends proves nothing.
 */
export type Tenancy = (principal: Principal) => 'all' | readonly (string | number)[];

/**
 * Groups by a claim: one name, or a list of names. A principal without the claim reaches none.
 *
 * @param reachesAll whether a principal reaches every group. Default: no principal does
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

/**
 * The group that a claim of a principal names, for the shard of a new model:
 * `placement.choose(claimedGroup(principal, 'region', placement), { kind: 'weighted' })`.
 *
 * @param groups knows the configured groups, as `Placement` does. Default: any name is returned
 * @throws ForbiddenError for a claim that is absent, or names several groups, or one that is not configured
 */
export function claimedGroup(
  { name, claims }: Principal,
  claim: string,
  groups?: { hasGroup(name: string): boolean },
): string {
  const value: unknown = claims[claim];
  const [group, ...others]: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (typeof group !== 'string' || others.length > 0)
    throw new ForbiddenError(`The claim ${claim} of ${name} must name one group`);
  if (groups?.hasGroup(group) === false)
    throw new ForbiddenError(`The claim ${claim} of ${name} names no configured group`);
  return group;
}

/** Returns the groups that a principal may reach by running an action; undefined: all. */
export type ReachOf = (principal: KnownPrincipal, action: object) => Reach | undefined;

/** Further inputs of a tenancy. */
export interface ReachOptions {
  /** Numbers of groups by their numbers or names; unknown groups are left out. */
  readonly groupNumbers: (groups: readonly (string | number)[]) => ReadonlySet<number>;
  /**
   * Actions that the runtime runs itself: steps of sagas. Like actions that handlers start, they are not restricted.
   */
  readonly own: ReadonlySet<object>;
}

/** The reach of principals under a tenancy. */
export function reachBy(tenancy: Tenancy, { groupNumbers, own }: ReachOptions): ReachOf {
  return (principal, action) => {
    if (principal.isOwn || own.has(action)) return undefined;
    const groups = tenancy(principal);
    return groups === 'all' ? undefined : new Reach(principal, groupNumbers(groups));
  };
}

/**
 * The groups that one principal may reach. Models without a sharded id belong to no group: every principal reaches
 * them.
 */
export class Reach {
  readonly #principal: Principal;
  readonly #groups: ReadonlySet<number>;

  /** @param groups numbers of the groups */
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
   * Checks all ids in params, results and any other objects and lists.
   *
   * @throws ForbiddenError for an id of another group at any depth
   */
  requireIds(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof ShardedId) this.require(value.resolveShardIdentifier());
    else if (value instanceof Entity) this.requireIds(value.id);
    else if (Array.isArray(value)) for (const item of value) this.requireIds(item);
    else if (isPlainObject(value)) for (const item of Object.values(value)) this.requireIds(item);
  }
}
