import { DriverFailure } from '../../sharding/driver-failure.js';
import type { FlushOutcome, FlushRequest, ShardStore, WriteGroup } from '../shard-store.js';
import type { PlanWrite } from '../write/plan-write.js';

export interface MemoryStoreOptions {
  /** From 0 to 1. */
  readonly random: () => number;
  /** Plans that violate a constraint. */
  readonly isGuilty: (plan: PlanWrite) => boolean;
  /** Chance that a row looks locked to a statement that does not wait. */
  readonly locked: number;
}

/**
 * Rows with versions in memory, behaving as a database with latency. Throws for requests that a writer must not send.
 */
export class MemoryStore implements Pick<ShardStore, 'flush'> {
  readonly versions: Map<string, number> = new Map<string, number>();
  /** Plans in the order in which they were applied. */
  readonly applied: PlanWrite[] = [];
  readonly objections: string[] = [];
  readonly #options: MemoryStoreOptions;
  readonly #inFlight = new Map<string, number>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  /** Implements only the methods that a writer calls. */
  get store(): ShardStore {
    return this as unknown as ShardStore;
  }

  async flush({ groups, locked }: FlushRequest): Promise<readonly FlushOutcome[]> {
    const keys = groups.flatMap((group) => [...new Set(group.flatMap(({ items }) => items.map(keyOf)))]);
    for (const key of keys) {
      if ((this.#inFlight.get(key) ?? 0) > 0) this.objections.push(`${key} is in two statements`);
    }
    if (new Set(keys).size < keys.length) this.objections.push('two groups touch one row');
    for (const key of keys) this.#inFlight.set(key, 1);
    for (let turns = Math.floor(this.#options.random() * 4); turns >= 0; turns -= 1) await nextTurn();
    try {
      if (groups.flat().some(this.#options.isGuilty)) {
        throw new DriverFailure('duplicate key', { phase: 'answered', sqlState: '23505' });
      }
      return groups.map((group) => this.#apply(group, locked));
    } finally {
      for (const key of keys) this.#inFlight.delete(key);
    }
  }

  /** Applies a group in its order, completely or not at all. */
  #apply(group: WriteGroup, locked: FlushRequest['locked']): FlushOutcome {
    if (locked === 'skip' && this.#options.random() < this.#options.locked) return 'left-out';
    const changed = new Map<string, number>();
    for (const item of group.flatMap(({ items }) => items)) {
      const key = keyOf(item);
      const expected = item.kind === 'add' ? 0 : item.expectedVersion;
      if ((changed.get(key) ?? this.versions.get(key) ?? 1) !== expected) return 'left-out';
      if (item.kind !== 'expect') changed.set(key, item.model.version);
    }
    for (const [key, version] of changed) this.versions.set(key, version);
    this.applied.push(...group);
    return 'applied';
  }
}

function keyOf({ descriptor, model }: PlanWrite['items'][number]): string {
  return `${descriptor.name}/${model.id.getValue()}`;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
