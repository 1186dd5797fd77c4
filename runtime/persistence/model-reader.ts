import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardBusyError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import type { ShardStore } from './shard-store.js';

/** One read by id that waits for its batch. */
interface Waiting {
  readonly id: string;
  readonly resolve: (model: Entity | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/** Most ids of one statement. */
const MAXIMUM_BATCH = 256;
/** Reads of one model that are on their way at a time; what comes meanwhile travels together. */
const MAXIMUM_IN_FLIGHT = 2;
/** Reads that may wait; beyond, a read is refused at once as busy. */
const MAXIMUM_WAITING = 10_000;

/**
 * Reads models of one class by id from one shard. What one turn of the event loop asks for, and what arrives while
 * reads are in flight, is sent as one statement. A read never joins a statement that has been sent, so it sees every
 * commit that was answered before it was asked.
 */
export class ModelReader {
  readonly #store: ShardStore;
  readonly #shard: ShardIdentifier;
  readonly #model: ModelDescriptor;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(store: ShardStore, shard: ShardIdentifier, model: ModelDescriptor) {
    this.#store = store;
    this.#shard = shard;
    this.#model = model;
  }

  /** The stored model, or undefined. Rejects with public errors only. */
  read(id: string, timeoutMs: number): Promise<Entity | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAXIMUM_WAITING) {
        reject(new ShardBusyError(this.#shard.toString(), `${this.#waiting.length} reads are waiting`));
        return;
      }
      this.#waiting.push({ id, resolve, reject, deadline: performance.now() + timeoutMs });
      this.#sendSoon();
    });
  }

  /** What one turn of the event loop asks for travels together. */
  #sendSoon(): void {
    if (this.#scheduled || this.#inFlight >= MAXIMUM_IN_FLIGHT) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#inFlight < MAXIMUM_IN_FLIGHT) this.#send();
    });
  }

  #send(): void {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#inFlight += 1;
    this.#readBatch(batch).finally(() => {
      this.#inFlight -= 1;
      this.#send();
    });
  }

  /** Nobody waits any more for a read whose deadline has passed in the queue. */
  #takeBatch(): readonly Waiting[] {
    const now = performance.now();
    const batch: Waiting[] = [];
    let taken = 0;
    for (const waiting of this.#waiting) {
      if (batch.length === MAXIMUM_BATCH) break;
      taken += 1;
      if (waiting.deadline > now) batch.push(waiting);
      else waiting.reject(this.#overdue());
    }
    this.#waiting.splice(0, taken);
    return batch;
  }

  #overdue(): Error {
    const failure = new DriverFailure('overdue in the queue', { phase: 'not-sent', reason: 'deadline' });
    return publicError(failure, this.#shard);
  }

  /** Never rejects. */
  async #readBatch(batch: readonly Waiting[]): Promise<void> {
    const ids = batch.length === 1 ? batch.map(({ id }) => id) : [...new Set(batch.map(({ id }) => id))];
    try {
      // The most patient caller decides: a hasty one gives up by itself.
      const deadline = Math.max(...batch.map((waiting) => waiting.deadline));
      const timeoutMs = Math.max(1, deadline - performance.now());
      const models = await this.#store.read(this.#model, ids, { timeoutMs });
      const byId = new Map(models.map((model) => [model.id.getValue() as string, model]));
      for (const { id, resolve } of batch) resolve(byId.get(id));
    } catch (failure) {
      if (ids.length > 1 && !(failure instanceof DriverFailure)) return this.#readHalves(batch, ids);
      const error = failure instanceof DriverFailure ? publicError(failure, this.#shard) : failure;
      for (const { reject } of batch) reject(error);
    }
  }

  /** What was answered holds a row that cannot be read. Only who asked for that one is to be told. */
  async #readHalves(batch: readonly Waiting[], ids: readonly string[]): Promise<void> {
    const firstIds = new Set(ids.slice(0, ids.length / 2));
    await this.#readBatch(batch.filter(({ id }) => firstIds.has(id)));
    await this.#readBatch(batch.filter(({ id }) => !firstIds.has(id)));
  }
}
