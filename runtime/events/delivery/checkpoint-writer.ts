import type { HeldLease } from '../../concurrency/held-lease.js';
import { time } from '../../concurrency/time.js';
import { isSamePlace, type LogCursor } from '../log/event-record.js';
import type { ConsumerStore, Lease, LeasedConsumer } from './consumer-store.js';

/**
 * The outcome of saving a checkpoint. `moved`: this process holds the lease, but the checkpoint is not where this run
 * left it, or the server is another one.
 */
export type CheckpointState = 'saved' | 'lost' | 'moved';

/** Maximum time between saves while there is progress to save, in milliseconds. */
export const CHECKPOINT_MS = 100;

/** Saves the progress of a run. Each statement moves the checkpoint from its last known position only. */
export class CheckpointWriter {
  readonly #consumers: ConsumerStore;
  readonly #lease: HeldLease<Lease>;
  #saved: LogCursor;
  #unsaved: LogCursor | undefined;
  /** Checkpoints that were sent without a reply: any of them may have been saved. */
  #inDoubt: LogCursor[] = [];
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
    const cursor = this.#unsaved;
    if (cursor === undefined) return 'saved';
    if (!now && time.nowMs() - this.#savedMs < CHECKPOINT_MS) return 'saved';
    this.#unsaved = undefined;
    const askedMs = time.nowMs();
    this.#savedMs = askedMs;
    try {
      if (await this.#move(cursor)) this.#lease.renewed(askedMs);
      else return await this.#lookAfterRefusal(cursor);
    } catch (error) {
      this.#unsaved ??= cursor;
      throw error;
    }
    return 'saved';
  }

  async #move(to: LogCursor): Promise<boolean> {
    const { lease, durationMs } = this.#lease;
    this.#inDoubt.push(to);
    const moved = await this.#consumers.checkpoint(lease, { from: this.#saved, to }, durationMs);
    if (moved) this.#arrived(to);
    return moved;
  }

  /** The lease may be lost, or an earlier statement whose reply was lost has moved the checkpoint. */
  async #lookAfterRefusal(wanted: LogCursor): Promise<CheckpointState> {
    const stored = await this.#consumers.readState(this.#lease.lease);
    if (stored === undefined) return 'lost';
    const { cursor: found, superseded } = stored;
    if (superseded || !this.#inDoubt.some((each) => isSamePlace(each, found))) return 'moved';
    this.#arrived(found);
    if (!isSamePlace(found, wanted)) this.#unsaved ??= wanted;
    return 'saved';
  }

  #arrived(cursor: LogCursor): void {
    this.#saved = cursor;
    this.#inDoubt = [];
  }
}
