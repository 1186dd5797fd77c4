import type { HeldLease } from '../../concurrency/held-lease.js';
import { time } from '../../concurrency/time.js';
import { isSamePlace, type LogCursor } from '../log/event-record.js';
import type { ConsumerStore, Lease, LeasedConsumer } from './consumer-store.js';

/** The outcome of saving a checkpoint. `superseded`: the lease was taken on another server, or before a restart. */
export type CheckpointState = 'saved' | 'lost' | 'superseded';

/** Maximum time between saves while there is progress to save, in milliseconds. */
export const CHECKPOINT_MS = 100;

/** Saves the progress of a run. Each statement moves the checkpoint from its last known position only. */
export class CheckpointWriter {
  readonly #consumers: ConsumerStore;
  readonly #lease: HeldLease<Lease>;
  #saved: LogCursor;
  #unsaved: LogCursor | undefined;
  #savedMs = 0;

  constructor(consumers: ConsumerStore, consumer: LeasedConsumer, lease: HeldLease<Lease>) {
    this.#consumers = consumers;
    this.#lease = lease;
    this.#saved = consumer.cursor;
  }

  /** Whether there is progress to save. */
  get pending(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Records that all events up to this cursor are done. */
  reached(cursor: LogCursor): void {
    this.#unsaved = cursor;
  }

  /** Saves the checkpoint if it is due. @param now save even if it is not due */
  async save(now = false): Promise<CheckpointState> {
    const to = this.#unsaved;
    const askedMs = time.nowMs();
    if (to === undefined || (!now && askedMs - this.#savedMs < CHECKPOINT_MS)) return 'saved';
    this.#savedMs = askedMs;
    const { lease, durationMs } = this.#lease;
    let saved = to;
    if (await this.#consumers.checkpoint(lease, { from: this.#saved, to }, durationMs)) {
      this.#lease.renewed(askedMs);
    } else {
      // The lease is lost, or an earlier statement of this run has moved the checkpoint, although its reply was lost.
      const stored = await this.#consumers.readState(lease);
      if (stored === undefined) return 'lost';
      if (stored.superseded) return 'superseded';
      saved = stored.cursor;
    }
    this.#saved = saved;
    if (this.#unsaved !== undefined && isSamePlace(this.#unsaved, saved)) this.#unsaved = undefined;
    return 'saved';
  }
}
