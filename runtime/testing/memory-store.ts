import type { StagedItem } from '../action/action-plan.js';
import { descriptorOf, type Entity, rowKey, rowOf } from '../domain/entity.js';
import { heldKeys, keyLookup, lookupOf } from '../domain/natural-key.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import type { FlushOutcome, FlushRequest, ShardStore } from '../persistence/shard-store.js';
import { flushStatement } from '../persistence/write/flush-statement.js';
import { KEY_CONSTRAINT, type KeyName, type KeyRecord } from '../persistence/write/idempotency-key.js';
import type { PlanWrite } from '../persistence/write/plan-write.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { persisted } from './persisted.js';

/** `namespace` of events in specifications. */
export const NAMESPACE = 'spec';

/** A plan that was committed on a shard. */
export interface MemoryCommit {
  readonly plan: PlanWrite;
  readonly shard: ShardIdentifier;
}

export interface MemoryStoreOptions {
  readonly events: EventCatalog;
  readonly defaultShard: ShardIdentifier;
  /** Called for each commit, in order. */
  readonly committed: (commit: MemoryCommit) => void;
  /** Throws an injected database error at this point of a commit. */
  readonly trouble: (actionName: string, point: 'before commit' | 'after commit') => void;
}

interface Rows {
  /** By `rowKey`. */
  readonly models: ReadonlyMap<string, Entity>;
  /** By shard and name. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
}

/** The models, idempotency keys and actions of all shards, in memory. A flush applies its groups as PostgreSQL does. */
export class MemoryStore {
  readonly #options: MemoryStoreOptions;
  readonly #actions = new Set<string>();
  #rows: Rows;

  constructor(models: readonly Entity[], options: MemoryStoreOptions) {
    this.#options = options;
    this.#rows = {
      models: new Map(models.map((model) => [rowOf(model), persisted(model)])),
      keys: new Map(),
    };
  }

  /** The stored state of a model, regardless of the given state's version. */
  stored<M extends Entity>(model: M): M | undefined {
    // Models of different classes have different rows, so the class matches.
    return this.#rows.models.get(rowOf(model)) as M | undefined;
  }

  /** The port of one shard. */
  on(shard: ShardIdentifier): ShardStore {
    const outcome = (id: string): 'committed' | 'void' => (this.#actions.has(id) ? 'committed' : 'void');
    const changeKey = (name: KeyName, record: KeyRecord | undefined): void => {
      const keys = new Map(this.#rows.keys);
      if (record === undefined) keys.delete(keyOf(shard, name));
      else keys.set(keyOf(shard, name), record);
      this.#rows = { ...this.#rows, keys };
    };
    const readKey = (name: KeyName): KeyRecord | undefined => this.#rows.keys.get(keyOf(shard, name));
    return {
      flush: async (request) => this.#flush(shard, request),
      read: async (model, ids) => this.#found(ids.map((id) => rowKey(model.name, id))),
      readByKey: async (model, key, texts) => {
        const holders = holdersIn(this.#rows.models);
        const names = texts.map((each) => keyLookup(model, key, shard, JSON.parse(each)).name);
        return this.#found(names.map((name) => holders.get(name) ?? ''));
      },
      fence: async ({ id }) => outcome(id),
      readAttempt: async (id) => ({ outcome: outcome(id), completeFrom: undefined }),
      readKey: async (name) => readKey(name),
      claimKey: async (claim, actionId) => {
        const { fingerprint, target } = claim;
        const known = readKey(claim);
        if (known !== undefined && !(known.fingerprint === fingerprint && known.target === target))
          return false;
        changeKey(claim, { fingerprint, target, actionId, result: undefined, expired: false });
        return true;
      },
      releaseKey: async (name, actionId) => {
        if (readKey(name)?.actionId === actionId) changeKey(name, undefined);
      },
      purgeKeys: async () => 0,
    };
  }

  #found<M extends Entity>(rows: readonly string[]): readonly M[] {
    // A descriptor's rows are models of its class.
    return rows.flatMap((row) => (this.#rows.models.get(row) as M | undefined) ?? []);
  }

  #flush(shard: ShardIdentifier, request: FlushRequest): readonly FlushOutcome[] {
    const { events, trouble, committed } = this.#options;
    // Refuses values that do not fit their column, and events that are not registered.
    flushStatement(request, { shard, namespace: NAMESPACE, events });
    let rows = this.#rows;
    const outcomes = request.groups.map((group): FlushOutcome => {
      let next: Rows | undefined = rows;
      for (const plan of group) next = next && this.#applied(next, { plan, shard });
      rows = next ?? rows;
      return next === undefined ? 'left-out' : 'applied';
    });
    const plans = request.groups.flatMap((group, index) => (outcomes[index] === 'applied' ? group : []));
    for (const { action } of plans) trouble(action.name, 'before commit');
    this.#rows = rows;
    for (const plan of plans) {
      this.#actions.add(plan.action.id);
      committed({ plan, shard });
    }
    for (const { action } of plans) trouble(action.name, 'after commit');
    return outcomes;
  }

  /** The rows with a plan's changes. Undefined if a version does not match. @throws DriverFailure for a taken key */
  #applied(rows: Rows, { plan, shard }: MemoryCommit): Rows | undefined {
    const models = new Map(rows.models);
    const isStale = (item: StagedItem): boolean =>
      item.kind !== 'add' && models.get(rowOf(item.model))?.version !== item.expectedVersion;
    if (plan.items.some(isStale)) return undefined;
    for (const { kind, model, descriptor } of plan.items) {
      if (kind === 'expect') continue;
      if (kind === 'add' && models.has(rowOf(model)))
        throw taken(descriptor.table, `${descriptor.table}_pkey`);
      models.set(rowOf(model), persisted(model));
    }
    for (const { kind, model } of plan.items) if (kind !== 'expect') this.#requireKeys(model, models);
    return { models, keys: plan.key === undefined ? rows.keys : withKey(rows.keys, plan, shard) };
  }

  #requireKeys(model: Entity, models: Rows['models']): void {
    const { table, keys = [] } = descriptorOf(model);
    if (keys.length === 0) return;
    const held = new Set(heldKeys(model));
    const others = [...models.values()].filter((each) => rowOf(each) !== rowOf(model));
    for (const key of keys) {
      const name = lookupOf(model, key, this.#options.defaultShard)?.name;
      if (name === undefined || !held.has(name)) continue;
      if (others.some((other) => heldKeys(other).includes(name))) throw taken(table, key.index);
    }
  }
}

function withKey(keys: Rows['keys'], { key, action }: PlanWrite, shard: ShardIdentifier): Rows['keys'] {
  if (key === undefined) return keys;
  const name = keyOf(shard, key);
  if (keys.has(name)) throw taken('idempotency_keys', KEY_CONSTRAINT, 'eventlog');
  const { fingerprint, target, result } = key;
  const value = result === undefined ? undefined : JSON.parse(result);
  return new Map(keys).set(name, { fingerprint, target, actionId: action.id, result: value, expired: false });
}

/** Rows by the names of the natural keys that they hold. */
function holdersIn(models: Rows['models']): ReadonlyMap<string, string> {
  return new Map(
    [...models].flatMap(([row, model]) => heldKeys(model).map((name): [string, string] => [name, row])),
  );
}

function keyOf(shard: ShardIdentifier, { principal, operation, key }: KeyName): string {
  return `${shard} ${JSON.stringify([principal, operation, key])}`;
}

function taken(table: string, constraint: string, schema = 'public'): DriverFailure {
  return new DriverFailure(`duplicate key value violates unique constraint "${constraint}"`, {
    phase: 'answered',
    sqlState: '23505',
    schema,
    table,
    constraint,
  });
}
