import { time } from '../../concurrency/time.js';
import type { NaturalKey } from '../../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { keyText } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardBusyError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import { activeSpan, DATABASE, during, type Span, startShared } from '../../tracing.js';
import type { ShardStore } from '../shard-store.js';

/** Loads models by id. */
export function modelsById(store: Pick<ShardStore, 'read'>, model: ModelDescriptor): ModelSource {
  return {
    table: model.table,
    load: (ids, options) => store.read(model, ids, options),
    idOf: ({ id }) => id.getValue(),
  };
}

/** Loads models by a natural key. The id of a request is the JSON list of the key's texts. */
export function modelsByKey(
  store: Pick<ShardStore, 'readByKey'>,
  model: ModelDescriptor,
  key: NaturalKey,
): ModelSource {
  return {
    table: model.table,
    load: (ids, options) => store.readByKey(model, key, ids, options),
    idOf: (found) => keyText(key, found),
  };
}

/** A read that waits for its batch. */
interface Waiting {
  readonly id: string;
  readonly resolve: (model: Entity | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** In milliseconds on the clock of `time.nowMs()`. */
  readonly deadline: number;
  /** The span that it is part of, if that is recorded. */
  readonly span: Span | undefined;
}

/** How a reader loads models: by id, or by one of their natural keys. */
export interface ModelSource {
  readonly table: string;
  /** @throws DriverFailure */
  load(ids: readonly string[], options: CallOptions): Promise<readonly Entity[]>;
  /** The id under which a caller requested the model. */
  idOf(model: Entity): string | undefined;
}

/** Maximum ids per statement. */
const MAXIMUM_BATCH = 256;
/** Maximum statements in flight per model; reads that arrive meanwhile form the next batch. */
const MAXIMUM_IN_FLIGHT = 2;
/** Maximum waiting reads; further reads are refused at once as busy. */
const MAXIMUM_WAITING = 10_000;

/**
 * Reads models of one class by id, or by one natural key, from one shard. The reads of one turn of the event loop, and
 * those that arrive while statements are in flight, are sent as one statement. A read never joins a statement that was
 * already sent, so it sees every commit that was confirmed before the read was requested.
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
      this.#waiting.push({ id, resolve, reject, deadline: time.nowMs() + timeoutMs, span: activeSpan() });
      this.#sendSoon();
    });
  }

  /** Sends the reads of one turn of the event loop together. */
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

  /** Takes the next batch from the queue, and rejects reads whose deadline has passed. */
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
      // The statement's time limit is the latest deadline of the batch. A read with an earlier deadline ends by itself.
      const deadline = Math.max(...batch.map((waiting) => waiting.deadline));
      const timeoutMs = Math.max(1, deadline - time.nowMs());
      const span = this.#spanOf(batch, ids.length);
      const models = await during(span, () => this.#source.load(ids, { timeoutMs }));
      const byId = new Map(models.map((model) => [this.#source.idOf(model), model]));
      for (const { id, resolve } of batch) resolve(byId.get(id));
    } catch (failure) {
      if (ids.length > 1 && !(failure instanceof DriverFailure)) return this.#readHalves(batch, ids);
      const error = failure instanceof DriverFailure ? publicError(failure, this.#shard) : failure;
      for (const { reject } of batch) reject(error);
    }
  }

  #spanOf(batch: readonly Waiting[], ids: number): Span | undefined {
    const { table } = this.#source;
    const causes = batch.map(({ span }) => span);
    const span = startShared(`read ${table}`, causes, { kind: 'CLIENT', attributes: DATABASE });
    return span?.setAttributes({
      'db.operation.name': 'SELECT',
      'db.collection.name': table,
      'fw.shard': this.#shard.toString(),
      'fw.read.ids': ids,
    });
  }

  /** Splits a batch whose answer contains a row that cannot be decoded, so that only the read of that row fails. */
  async #readHalves(batch: readonly Waiting[], ids: readonly string[]): Promise<void> {
    const firstIds = new Set(ids.slice(0, ids.length / 2));
    await this.#readBatch(batch.filter(({ id }) => firstIds.has(id)));
    await this.#readBatch(batch.filter(({ id }) => !firstIds.has(id)));
  }
}
