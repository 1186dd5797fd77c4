import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import type { ShardStore } from './shard-store.js';

/** One read by id that waits for its batch. */
interface Waiting {
  readonly id: string;
  readonly resolve: (model: Entity | undefined) => void;
  readonly reject: (error: unknown) => void;
  readonly timeoutMs: number;
}

/** Most ids of one statement. */
const MAXIMUM_BATCH = 256;
/** Reads of one model that are on their way at a time; what comes meanwhile travels together. */
const MAXIMUM_IN_FLIGHT = 4;

/**
 * Reads models of one class by id from one shard. Alone, a read goes at once; what arrives while reads are in flight
 * is sent as one statement. A read never joins a statement that has been sent, so it sees every commit that was
 * answered before it was asked.
 */
export class ModelReader {
  readonly #store: ShardStore;
  readonly #model: ModelDescriptor;
  #waiting: Waiting[] = [];
  #inFlight = 0;

  constructor(store: ShardStore, model: ModelDescriptor) {
    this.#store = store;
    this.#model = model;
  }

  /** The stored model, or undefined. @throws DriverFailure */
  read(id: string, timeoutMs: number): Promise<Entity | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject, timeoutMs });
      if (this.#inFlight < MAXIMUM_IN_FLIGHT) this.#send();
    });
  }

  #send(): void {
    const batch = this.#waiting.splice(0, MAXIMUM_BATCH);
    this.#inFlight += 1;
    this.#readBatch(batch).finally(() => {
      this.#inFlight -= 1;
      if (this.#waiting.length > 0) this.#send();
    });
  }

  async #readBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const ids = batch.length === 1 ? batch.map(({ id }) => id) : [...new Set(batch.map(({ id }) => id))];
      // The most patient caller decides: a hasty one gives up by itself.
      const timeoutMs = Math.max(...batch.map((waiting) => waiting.timeoutMs));
      const models = await this.#store.read(this.#model, ids, { timeoutMs });
      const byId = new Map(models.map((model) => [model.id.getValue() as string, model]));
      for (const { id, resolve } of batch) resolve(byId.get(id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
