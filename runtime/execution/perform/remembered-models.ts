import { LRUCache } from 'lru-cache';
import type { RememberedCounts } from '../../action/action-statistics.js';
import { memoize } from '../../collections/memoize.js';
import {
  descriptorOf,
  type Entity,
  fieldOf,
  type ModelDescriptor,
  revisionOf,
  rowOf,
} from '../../domain/entity.js';
import { columnKindOf } from '../../domain/kinds/kinds.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';

/**
 * A time in which the connections of one shard lead to the same server. A failover may undo commits and reuse their
 * versions, so nothing that was remembered in one era is used in the next.
 */
export interface Era {
  isOver: boolean;
}

interface RememberedModel {
  model: Entity;
  era: Era;
}

/** What the memory must know of a shard. */
export interface RememberedShards {
  /** Whether every change of server ends a connection that this process notices. A pooler hides it. */
  noticesServers(shard: ShardIdentifier): boolean;
  /** Whether a stored row has the values of the state that was staged. */
  storesAsStaged(shard: ShardIdentifier, model: ModelDescriptor): boolean;
  /** Resolves when that is known. Undefined: it is. */
  ready(shard: ShardIdentifier, model: ModelDescriptor): Promise<void> | undefined;
}

/** How often in succession the guesses of one action about one model class were useless. */
interface Distrust {
  level: number;
  /** Guesses to leave out. */
  left: number;
}

/** A failure counts twice as much as a success: guessing pays only while most guesses hold. */
const FAILURE = 2;
/** A state whose texts and documents have more characters and values in all is not remembered. */
const MOST_CHARACTERS = 16_384;
/** At most 2^10 guesses are left out before the next one. */
const MAXIMUM_LEVEL = 10;

/**
 * Committed states that this process remembers, so that an action need not read a model that it changes:
 *
 *     SELECT ... WHERE id = $1                                                 left out: version 7 is remembered
 *     UPDATE ... SET version = 8 WHERE id = $1 AND version = 7 AND xmin = $2   proves that the row is still the same
 *
 * A remembered state is a guess. The plan's own statement proves it before any outcome is reported: it checks the version
 * and the writing transaction of the updated row, or of a row that was only read (`PerformRun.proofs` adds an
 * expectation). An outcome without such a proof (a refusal, an empty plan, several shards) is discarded, and `perform`
 * runs again with reads. A state that another process has changed is stale at the check, and dropped. If many guesses
 * are useless, none are made for a while.
 *
 * The states are bounded in number, and each in size; the least recently used one goes first.
 */
export class RememberedModels {
  readonly #models: LRUCache<string, RememberedModel> | undefined;
  readonly #shards: RememberedShards;
  readonly #eras = new Map<ShardIdentifier, Era>();
  /** By action and model class, as long as there is a reason. */
  readonly #distrust = new Map<string, Distrust>();
  readonly #counts = { hit: 0, miss: 0, disproven: 0 };

  /** @param maximum number of states; 0: none is remembered */
  constructor(maximum: number, shards: RememberedShards) {
    this.#models = maximum === 0 ? undefined : new LRUCache({ max: maximum });
    this.#shards = shards;
  }

  get counts(): RememberedCounts {
    return this.#counts;
  }

  /** The present era of a shard, to be passed to `keep`. Undefined: nothing of the shard is remembered. */
  eraOf(shard: ShardIdentifier): Era | undefined {
    if (this.#models === undefined) return undefined;
    let era = this.#eras.get(shard);
    if (era === undefined) {
      if (!this.#shards.noticesServers(shard)) return undefined;
      era = { isOver: false };
      this.#eras.set(shard, era);
    }
    return era;
  }

  /** Forgets the states of a shard, and those that are being read or written now. */
  forget(shard: ShardIdentifier): void {
    const era = this.#eras.get(shard);
    if (era === undefined) return;
    era.isOver = true;
    this.#eras.delete(shard);
  }

  /** A guess at the committed state of a row, for an action whose guesses are useful. */
  guess(row: string, actionName: string): Entity | undefined {
    const known = this.#models?.get(row);
    if (known?.era.isOver === true) this.#models?.delete(row);
    else if (known !== undefined && this.#isTrusted(actionName, known.model)) {
      this.#counts.hit += 1;
      return known.model;
    }
    this.#counts.miss += 1;
    return undefined;
  }

  /** Remembers a state that is committed. @param era that of the shard before the state was read or sent */
  keep(model: Entity, era: Era | undefined): void {
    if (this.#models === undefined || era === undefined || era.isOver) return;
    const descriptor = descriptorOf(model);
    if (descriptor.chaining === false) return;
    const row = rowOf(model);
    if (isLarge(descriptor, model)) {
      this.drop(row);
      return;
    }
    const known = this.#models.peek(row);
    if (known === undefined) {
      this.#models.set(row, { model, era });
      return;
    }
    // The answer of a read may arrive after that of a later write.
    if (!known.era.isOver && known.model.version > model.version) return;
    known.model = model;
    known.era = era;
  }

  /**
   * Must be called when a model is read. Resolves when states of its class can be remembered; undefined: at once. The
   * read waits for it, so that which reads are spared does not depend on the speed of the catalog.
   */
  prepare(model: ModelDescriptor, shard: ShardIdentifier): Promise<void> | undefined {
    return this.eraOf(shard) === undefined ? undefined : this.#shards.ready(shard, model);
  }

  /**
   * As `keep`, for a state that was staged and is committed by now. If the answer was lost, its transaction is not known,
   * so that no later check could notice a change by hand.
   */
  keepStaged(model: Entity, shard: ShardIdentifier, era: Era | undefined): void {
    // An era is also over when its shard was removed.
    if (era === undefined || era.isOver) return;
    const isKnown = revisionOf(model) !== undefined;
    if (isKnown && this.#shards.storesAsStaged(shard, descriptorOf(model))) this.keep(model, era);
    else this.drop(rowOf(model));
  }

  drop(row: string): void {
    this.#models?.delete(row);
  }

  /** Reports that a guess was proven. */
  proven(actionName: string, model: Entity): void {
    if (this.#distrust.size > 0) this.#trust(purposeOf(actionName, model));
  }

  /** Reports that a guess was of no use. @param isStale whether its attempt was stale */
  failed(actionName: string, model: Entity, isStale: boolean): void {
    this.#counts.disproven += 1;
    if (isStale) this.drop(rowOf(model));
    const purpose = purposeOf(actionName, model);
    const level = Math.min((this.#distrust.get(purpose)?.level ?? 0) + FAILURE, MAXIMUM_LEVEL);
    this.#distrust.set(purpose, { level, left: 2 ** level });
  }

  #isTrusted(actionName: string, model: Entity): boolean {
    const distrust = this.#distrust.size === 0 ? undefined : this.#distrust.get(purposeOf(actionName, model));
    if (distrust === undefined || distrust.left === 0) return true;
    distrust.left -= 1;
    return false;
  }

  #trust(purpose: string): void {
    const distrust = this.#distrust.get(purpose);
    if (distrust === undefined) return;
    distrust.level -= 1;
    if (distrust.level === 0) this.#distrust.delete(purpose);
  }
}

const unboundedFields = memoize(({ columns }: ModelDescriptor) =>
  columns
    .filter((column) => column.type.kind === 'string' || columnKindOf(column) === undefined)
    .map(({ field }) => field),
);

function isLarge(descriptor: ModelDescriptor, model: Entity): boolean {
  let left = MOST_CHARACTERS;
  for (const field of unboundedFields(descriptor)) left = leftAfter(fieldOf(model, field), left);
  return left < 0;
}

/** What is left of a number of characters; negative after a value that exceeds it. */
function leftAfter(value: unknown, before: number): number {
  if (typeof value === 'string') return before - value.length;
  if (typeof value !== 'object' || value === null) return before - 1;
  let left = before;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    left = leftAfter(part, left);
    if (left < 0) break;
  }
  return left;
}

/** One action may change a model class that another one only reads. */
function purposeOf(actionName: string, model: Entity): string {
  return `${actionName} ${descriptorOf(model).name}`;
}
