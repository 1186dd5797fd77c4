import { currentPerformScope } from '../../action/perform-scope.js';
import { time } from '../../concurrency/time.js';
import type { NaturalKey } from '../../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { keyText } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardBusyError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import { activeSpan, DATABASE, during, type Span, startShared } from '../../tracing.js';
import type { ShardStore } from '../shard-store.js';

/** Loads rows of one table by their ids, for a `BatchReader`. */
export interface BatchSource<Row> {
  /** Loads the rows that exist, by the ids under which they were requested. @throws DriverFailure */
  load(ids: readonly string[], options: CallOptions): Promise<ReadonlyMap<string | undefined, Row>>;
  /** The error of a read whose statement has failed. */
  errorOf(failure: unknown): unknown;
  /** The table, for the spans of the statements. Undefined: they have no spans. */
  readonly table?: string;
}

/** The store of a shard. */
interface ShardModels {
  readonly store: Pick<ShardStore, 'read' | 'readByKey'>;
  readonly shard: ShardIdentifier;
}

/** Loads models by id. Rejects with public errors only. */
export function modelsById(model: ModelDescriptor, { store, shard }: ShardModels): BatchSource<Entity> {
  return {
    table: model.table,
    load: async (ids, options) => byId(await store.read(model, ids, options), ({ id }) => id.getValue()),
    errorOf: publicErrors(shard),
  };
}

/** As `modelsById`, by a natural key. The id of a request is the JSON list of the key's texts. */
export function modelsByKey(
  model: ModelDescriptor,
  key: NaturalKey,
  { store, shard }: ShardModels,
): BatchSource<Entity> {
  return {
    table: model.table,
    load: async (ids, options) =>
      byId(await store.readByKey(model, key, ids, options), (found) => keyText(key, found)),
    errorOf: publicErrors(shard),
  };
}

function byId(
  models: readonly Entity[],
  idOf: (model: Entity) => string | undefined,
): ReadonlyMap<string | undefined, Entity> {
  return new Map(models.map((model) => [idOf(model), model]));
}

function publicErrors(shard: ShardIdentifier): BatchSource<Entity>['errorOf'] {
  return (failure) => (failure instanceof DriverFailure ? publicError(failure, shard) : failure);
}

/** A read that waits for its batch. */
interface Waiting<Row> {
  readonly id: string;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** In milliseconds on the clock of `time.nowMs()`. */
  readonly deadline: number;
  /** The span that it is part of, if that is recorded. */
  readonly span: Span | undefined;
}

/** Maximum ids per statement. */
const MAXIMUM_BATCH = 256;
/** Default maximum of statements in flight; reads that arrive meanwhile form the next batch. */
const MAXIMUM_IN_FLIGHT = 2;
/** Maximum waiting reads; further reads are refused at once as busy. */
const MAXIMUM_WAITING = 10_000;

/**
 * Reads rows of one table by one kind of id from one shard: models, or idempotency keys. The reads of one turn of the
 * event loop, and those that arrive while statements are in flight, are sent as one statement. A read never joins a
 * statement that was already sent, so it sees every commit that was confirmed before the read was requested.
 */
export class BatchReader<Row> {
  readonly #shard: ShardIdentifier;
  readonly #source: BatchSource<Row>;
  readonly #maximumInFlight: number;
  #waiting: Waiting<Row>[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(shard: ShardIdentifier, source: BatchSource<Row>, maximumInFlight: number = MAXIMUM_IN_FLIGHT) {
    this.#shard = shard;
    this.#source = source;
    this.#maximumInFlight = maximumInFlight;
  }

  /** The stored row, or undefined. @param timeoutMs ends a read in the queue; in flight, the caller must end it */
  read(id: string, timeoutMs: number): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAXIMUM_WAITING) {
        reject(new ShardBusyError(this.#shard.toString(), `${this.#waiting.length} reads are waiting`));
        return;
      }
      const span = currentPerformScope()?.reads?.span?.started ?? activeSpan();
      this.#waiting.push({ id, resolve, reject, deadline: time.nowMs() + timeoutMs, span });
      this.#sendSoon();
    });
  }

  /** Sends the reads of one turn of the event loop together. */
  #sendSoon(): void {
    if (this.#scheduled || this.#inFlight >= this.#maximumInFlight) return;
    this.#scheduled = true;
    time.setImmediate(() => {
      this.#scheduled = false;
      if (this.#inFlight < this.#maximumInFlight) this.#send();
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
  #takeBatch(): readonly Waiting<Row>[] {
    const now = time.nowMs();
    const batch: Waiting<Row>[] = [];
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

  #overdue(): unknown {
    const failure = new DriverFailure('overdue in the queue', { phase: 'not-sent', reason: 'deadline' });
    return this.#source.errorOf(failure);
  }

  /** Never rejects. */
  async #readBatch(batch: readonly Waiting<Row>[]): Promise<void> {
    const ids = batch.length === 1 ? batch.map(({ id }) => id) : [...new Set(batch.map(({ id }) => id))];
    try {
      // The statement's time limit is the latest deadline of the batch. A read with an earlier deadline ends by itself.
      const deadline = Math.max(...batch.map((waiting) => waiting.deadline));
      const timeoutMs = Math.max(1, deadline - time.nowMs());
      const span = this.#spanOf(batch, ids.length);
      const rows = await during(span, () => this.#source.load(ids, { timeoutMs }));
      for (const { id, resolve } of batch) resolve(rows.get(id));
    } catch (failure) {
      if (ids.length > 1 && isAboutOne(failure)) return this.#readHalves(batch, ids);
      const error = this.#source.errorOf(failure);
      for (const { reject } of batch) reject(error);
    }
  }

  #spanOf(batch: readonly Waiting<Row>[], ids: number): Span | undefined {
    const { table } = this.#source;
    if (table === undefined) return undefined;
    const causes = batch.map(({ span }) => span);
    const span = startShared(`read ${table}`, causes, { kind: 'CLIENT', attributes: DATABASE });
    return span?.setAttributes({
      'db.operation.name': 'SELECT',
      'db.collection.name': table,
      'fw.shard': this.#shard.toString(),
      'fw.read.ids': ids,
    });
  }

  /** Splits a failed batch, so that only the read of the bad row or id fails. */
  async #readHalves(batch: readonly Waiting<Row>[], ids: readonly string[]): Promise<void> {
    const firstIds = new Set(ids.slice(0, ids.length / 2));
    await this.#readBatch(batch.filter(({ id }) => firstIds.has(id)));
    await this.#readBatch(batch.filter(({ id }) => !firstIds.has(id)));
  }
}

/** Whether one read may have failed the whole batch: its row cannot be decoded, or the server refuses its id. */
function isAboutOne(failure: unknown): boolean {
  if (!(failure instanceof DriverFailure)) return true;
  return failure.sqlState !== undefined && sqlStateMeaning(failure.sqlState) === 'value';
}
