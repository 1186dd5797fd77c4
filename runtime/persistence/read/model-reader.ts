import { time } from '../../concurrency/time.js';
import type { NaturalKey } from '../../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { keyText } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardBusyError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import type { ShardStore } from '../shard-store.js';

/** Models by id. */
export function modelsById(store: Pick<ShardStore, 'read'>, model: ModelDescriptor): ModelSource {
  return {
    load: (ids, options) => store.read(model, ids, options),
    idOf: ({ id }) => id.getValue(),
  };
}

/** Models by a natural key: an id is the JSON list of the key's texts. */
export function modelsByKey(
  store: Pick<ShardStore, 'readByKey'>,
  model: ModelDescriptor,
  key: NaturalKey,
): ModelSource {
  return {
    load: (ids, options) => store.readByKey(model, key, ids, options),
    idOf: (found) => keyText(key, found),
  };
}

/** One read by id that waits for its batch. */
interface Waiting {
  readonly id: string;
  readonly resolve: (model: Entity | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** On the clock of `time.nowMs()`. */
  readonly deadline: number;
}

/** What a reader reads: models by their ids, or by one of their keys. */
export interface ModelSource {
  /** @throws DriverFailure */
  load(ids: readonly string[], options: CallOptions): Promise<readonly Entity[]>;
  /** What the model was asked for by. */
  idOf(model: Entity): string | undefined;
}

/** Most ids of one statement. */
const MAXIMUM_BATCH = 256;
/** Reads of one model that are on their way at a time; what comes meanwhile travels together. */
const MAXIMUM_IN_FLIGHT = 2;
/** Reads that may wait; beyond, a read is refused at once as busy. */
const MAXIMUM_WAITING = 10_000;

/**
 * Reads models of one class by id, or by one natural key, from one shard. What one turn of the event loop asks for, and
 * what arrives while reads are in flight, is sent as one statement. A read never joins a statement that has been sent,
 * so it sees every commit that was answered before it was asked.
 */
export class ModelReader {
  readonly #shard: ShardIdentifier;
  readonly #source: ModelSource;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(shard: ShardIdentifier, source: ModelSource) {
    this.#shard = shard;
    this.#source = source;
  }

  /** The stored model, or undefined. Rejects with public errors only. */
  read(id: string, timeoutMs: number): Promise<Entity | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAXIMUM_WAITING) {
        reject(new ShardBusyError(this.#shard.toString(), `${this.#waiting.length} reads are waiting`));
        return;
      }
      this.#waiting.push({ id, resolve, reject, deadline: time.nowMs() + timeoutMs });
      this.#sendSoon();
    });
  }

  /** What one turn of the event loop asks for travels together. */
  #sendSoon(): void {
    if (this.#scheduled || this.#inFlight >= MAXIMUM_IN_FLIGHT) return;
    this.#scheduled = true;
    time.setImmediate(() => {
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

  /** Rejects reads whose deadline has passed in the queue. */
  #takeBatch(): readonly Waiting[] {
    const now = time.nowMs();
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
      const timeoutMs = Math.max(1, deadline - time.nowMs());
      const models = await this.#source.load(ids, { timeoutMs });
      const byId = new Map(models.map((model) => [this.#source.idOf(model), model]));
      for (const { id, resolve } of batch) resolve(byId.get(id));
    } catch (failure) {
      if (ids.length > 1 && !(failure instanceof DriverFailure)) return this.#readHalves(batch, ids);
      const error = failure instanceof DriverFailure ? publicError(failure, this.#shard) : failure;
      for (const { reject } of batch) reject(error);
    }
  }

  /** The answer contains an unreadable row. Splits the batch, so that only the read of that row fails. */
  async #readHalves(batch: readonly Waiting[], ids: readonly string[]): Promise<void> {
    const firstIds = new Set(ids.slice(0, ids.length / 2));
    await this.#readBatch(batch.filter(({ id }) => firstIds.has(id)));
    await this.#readBatch(batch.filter(({ id }) => !firstIds.has(id)));
  }
}
