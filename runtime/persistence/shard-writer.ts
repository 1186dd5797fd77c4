import { ShardBusyError } from '../errors.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { deadlines } from '../sharding/deadlines.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { type PlanWrite, touchedKeys } from './plan-write.js';
import type { FlushOutcome, ShardStore } from './shard-store.js';

/** Bounds of one shard's writer. */
export interface WriterLimits {
  /** Plans that may wait; beyond, a plan is refused at once as busy. Default 10,000. */
  readonly maximumQueued: number;
  /** Statements on their way at a time. Default 2. */
  readonly maximumInFlight: number;
  /** Plans in one statement. Default 128. */
  readonly maximumBatch: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = Object.freeze({
  maximumQueued: 10_000,
  maximumInFlight: 2,
  maximumBatch: 128,
});

/** Limits of one submission. */
export interface SubmitOptions {
  /** Milliseconds from now until the outcome must be there. */
  readonly timeoutMs: number;
  /** Takes the plan out of the queue; once it has been sent its true outcome is reported. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a plan, told to its execution. */
export type WriteOutcome = 'applied' | 'stale';

interface Queued {
  readonly plan: PlanWrite;
  readonly keys: readonly string[];
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Sent by itself and waiting for locks, after a flush has left it out. */
  alone: boolean;
  /** On its way to the database. */
  sent: boolean;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the plans of one shard. Alone, a plan goes at once; what queues up while statements are in flight is sent as
 * one statement. No two plans of one statement, or of statements in flight, touch one row. A statement that fails
 * with a constraint is split until the guilty plan stands alone; a plan that was left out beside others is sent
 * again by itself, which tells a stale version from a row that was merely locked.
 */
export class ShardWriter {
  readonly #store: ShardStore;
  readonly #shard: ShardIdentifier;
  readonly #limits: WriterLimits;
  #queue: Queued[] = [];
  readonly #busyKeys = new Set<string>();
  #inFlight = 0;

  constructor(store: ShardStore, shard: ShardIdentifier, limits: WriterLimits = DEFAULT_WRITER_LIMITS) {
    this.#store = store;
    this.#shard = shard;
    this.#limits = limits;
  }

  /** Plans that wait to be sent. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Sends a plan when its turn comes.
   *
   * @throws ShardBusyError if the queue is full
   * @throws DriverFailure as the store does; phase `not-sent` if deadline or signal fired while it waited
   */
  submit(plan: PlanWrite, options: SubmitOptions): Promise<WriteOutcome> {
    if (this.#queue.length >= this.#limits.maximumQueued) {
      const reason = `${this.#queue.length} plans are waiting`;
      return Promise.reject(new ShardBusyError(this.#shard.toString(), reason));
    }
    const deadline = performance.now() + options.timeoutMs;
    const { entry, outcome } = queueEntry(plan, deadline, options.signal);
    this.#queue.push(entry);
    this.#sendNext();
    return deadlines.race(outcome, deadline, () => this.#expire(entry));
  }

  /** A plan that has been sent may yet be applied, and its execution must settle that. */
  #expire(entry: Queued): DriverFailure {
    if (entry.sent) return new DriverFailure('no answer before the deadline', { phase: 'in-flight' });
    this.#queue = this.#queue.filter((queued) => queued !== entry);
    return new DriverFailure('the deadline passed in the queue', { phase: 'not-sent', reason: 'deadline' });
  }

  #sendNext(): void {
    while (this.#inFlight < this.#limits.maximumInFlight && this.#queue.length > 0) {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      void this.#send(batch).finally(() => {
        this.#inFlight -= 1;
        for (const { keys } of batch) for (const key of keys) this.#busyKeys.delete(key);
        this.#sendNext();
      });
    }
  }

  /** Takes plans from the head of the queue; those that touch a row in flight keep their place. */
  #takeBatch(): Queued[] {
    const now = performance.now();
    const batch: Queued[] = [];
    const left: Queued[] = [];
    for (let index = 0; index < this.#queue.length; index += 1) {
      const entry = this.#queue[index];
      if (entry === undefined) continue;
      if (this.#givesUp(entry, now)) continue;
      const fits = entry.alone ? batch.length === 0 : batch[0]?.alone !== true;
      if (!fits || entry.keys.some((key) => this.#busyKeys.has(key))) {
        left.push(entry);
        continue;
      }
      for (const key of entry.keys) this.#busyKeys.add(key);
      entry.sent = true;
      batch.push(entry);
      if (entry.alone || batch.length >= this.#limits.maximumBatch) {
        left.push(...this.#queue.slice(index + 1));
        break;
      }
    }
    this.#queue = left;
    return batch;
  }

  #givesUp(entry: Queued, now: number): boolean {
    if (entry.signal?.aborted === true) {
      entry.reject(new DriverFailure('aborted in the queue', { phase: 'not-sent', reason: 'aborted' }));
      return true;
    }
    return entry.deadline <= now;
  }

  async #send(batch: readonly Queued[]): Promise<void> {
    try {
      const outcomes = await this.#flush(batch);
      batch.forEach((entry, index) => this.#settle(entry, outcomes[index] ?? 'left-out', batch.length > 1));
    } catch (error) {
      await this.#fail(batch, error);
    }
  }

  #flush(batch: readonly Queued[]): Promise<readonly FlushOutcome[]> {
    const timeoutMs = Math.max(...batch.map(({ deadline }) => deadline)) - performance.now();
    return this.#store.flush(
      { plans: batch.map(({ plan }) => plan), locked: batch.length > 1 ? 'skip' : 'wait' },
      { timeoutMs: Math.max(1, timeoutMs) },
    );
  }

  #settle(entry: Queued, outcome: FlushOutcome, hadNeighbours: boolean): void {
    if (outcome === 'applied') entry.resolve('applied');
    else if (hadNeighbours) this.#queue.unshift(Object.assign(entry, { alone: true, sent: false }));
    else entry.resolve('stale');
  }

  /** An error that the server answered aborted the whole statement: the plans are tried in halves. */
  async #fail(batch: readonly Queued[], error: unknown): Promise<void> {
    const splittable = batch.length > 1 && !(error instanceof DriverFailure && error.phase !== 'answered');
    if (!splittable) {
      for (const { reject } of batch) reject(error);
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await this.#send(batch.slice(0, middle));
    await this.#send(batch.slice(middle));
  }
}

function queueEntry(
  plan: PlanWrite,
  deadline: number,
  signal: AbortSignal | undefined,
): { readonly entry: Queued; readonly outcome: Promise<WriteOutcome> } {
  let settle: Pick<Queued, 'resolve' | 'reject'> | undefined;
  const outcome = new Promise<WriteOutcome>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The executor of a promise runs at once, so `settle` is set here.
  const { resolve, reject } = settle as unknown as Pick<Queued, 'resolve' | 'reject'>;
  const keys = touchedKeys(plan);
  return { entry: { plan, keys, deadline, signal, alone: false, sent: false, resolve, reject }, outcome };
}
