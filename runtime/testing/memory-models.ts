import type { Kysely } from 'kysely';
import type { StagedItem } from '../action/action-plan.js';
import type { Tenancy } from '../action/tenancy.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { descriptorOf, type Entity, rowOf } from '../domain/entity.js';
import { heldKeys, type KeyLookup } from '../domain/natural-key.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { DatabaseError, StaleModelError, UniqueViolationError, UnknownShardError } from '../errors.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import { persisted } from './persisted.js';

/** The shards of an in-memory topology. */
export interface MemoryTopology {
  /** The configured shards. Default: every shard is configured. */
  readonly shards?: readonly ShardIdentifier[];
  /** The shard of models without a sharded id. Default (0, 0). */
  readonly defaultShard?: ShardIdentifier;
  /** Numbers of groups by their configured names, for `tenancy` and placement. Default: no names. */
  readonly groups?: Readonly<Record<string, number>>;
  /** The groups of shards that each principal may reach, as for `startServer`. Default: all. */
  readonly tenancy?: Tenancy;
}

/** Stored models without a database, which the repositories of a specification read. */
export class MemoryModels implements RepositoryContext {
  readonly defaultShard: ShardIdentifier;
  readonly #configured: readonly ShardIdentifier[] | undefined;
  readonly #models = new Map<string, Entity>();
  readonly #groups: Readonly<Record<string, number>>;
  #misuse: DatabaseError | undefined;

  constructor(models: readonly Entity[], topology: MemoryTopology = {}) {
    this.defaultShard = topology.defaultShard ?? ShardIdentifier.of(0, 0);
    this.#configured = topology.shards;
    this.#groups = topology.groups ?? {};
    for (const model of models)
      this.#models.set(keyOf(descriptorOf(model), model.id.getValue()), persisted(model));
  }

  get shards(): readonly ShardIdentifier[] {
    return this.#configured ?? [this.defaultShard];
  }

  groupNumbers(groups: readonly (string | number)[]): ReadonlySet<number> {
    const numbers = groups.map((group) => (typeof group === 'number' ? group : this.#groups[group]));
    return new Set(numbers.filter((number) => number !== undefined));
  }

  async read(model: ModelDescriptor, shard: ShardIdentifier, id: string): Promise<Entity | undefined> {
    this.requireShard(shard);
    return this.#models.get(keyOf(model, id));
  }

  /** The stored state of a model, regardless of the given state's version. */
  stored<M extends Entity>(model: M): M | undefined {
    const found = this.#models.get(keyOf(descriptorOf(model), model.id.getValue()));
    // Models of different classes have different keys, so the class matches.
    return found as M | undefined;
  }

  /** Stores the models of a plan that `requireApplicable` has admitted. */
  apply(items: readonly StagedItem[]): void {
    for (const item of items) {
      if (item.kind === 'expect') continue;
      this.#models.set(keyOf(item.descriptor, item.model.id.getValue()), persisted(item.model));
    }
  }

  async readByKey({ shard, name }: KeyLookup): Promise<Entity | undefined> {
    this.requireShard(shard);
    return this.#holderOf(name);
  }

  /** There is no database to query. @throws DatabaseError always */
  queries<Tables>(shard: ShardIdentifier): Kysely<Tables> {
    this.#misuse ??= new DatabaseError(
      `Shard ${shard} holds no database: an action spec reads by id only. Test actions with queries of their own ` +
        'on a database.',
      {},
    );
    throw this.#misuse;
  }

  /** The error of a refused query. A handler or saga under test may have caught it, or might retry endlessly. */
  get misuse(): DatabaseError | undefined {
    return this.#misuse;
  }

  /** @throws UnknownShardError if the shard is not configured */
  requireShard(shard: ShardIdentifier): void {
    if (this.#configured?.includes(shard) === false) throw new UnknownShardError(shard.toString());
  }

  /**
   * Refuses an item that the database would refuse.
   *
   * @param items the whole plan
   * @throws UniqueViolationError for a new model whose id is stored, and for a natural key that another model holds
   * @throws StaleModelError for an update or expectation whose version is not the stored one
   */
  requireApplicable(actionName: string, item: StagedItem, items: readonly StagedItem[]): void {
    const { descriptor, model } = item;
    if (item.kind !== 'expect') this.#requireKeys(item, items);
    const id = model.id.getValue();
    const stored = this.#models.get(keyOf(descriptor, id));
    if (item.kind === 'add') {
      if (stored === undefined) return;
      throw new UniqueViolationError(`${descriptor.name} ${id} exists already`, { table: descriptor.table });
    }
    if (stored?.version !== item.expectedVersion) {
      throw new StaleModelError(actionName, `${descriptor.name} ${id}`);
    }
  }

  /** A key of a model that the plan itself changes is free: `requireKeys` has checked the plan's own keys. */
  #requireKeys({ descriptor, model }: StagedItem, items: readonly StagedItem[]): void {
    const staged = new Set(items.flatMap((each) => (each.kind === 'expect' ? [] : [rowOf(each.model)])));
    for (const name of heldKeys(model)) {
      const holder = this.#holderOf(name);
      if (holder === undefined || staged.has(rowOf(holder))) continue;
      const message = `${descriptor.name} ${holder.id.getValue()} has the same natural key`;
      throw new UniqueViolationError(message, { table: descriptor.table });
    }
  }

  #holderOf(name: string): Entity | undefined {
    for (const model of this.#models.values()) if (heldKeys(model).includes(name)) return model;
    return undefined;
  }
}

function keyOf({ name }: ModelDescriptor, id: string): string {
  return `${name}/${id}`;
}
