import { time } from '../../concurrency/time.js';
import { isSamePlace, type LogCursor } from '../log/event-record.js';
import type { ConsumerStore, LeasedConsumer } from './consumer-store.js';
import type { HeldLease } from './held-lease.js';

/**
 * The outcome of saving. `moved`: the lease is ours, and the checkpoint is not where this run has left it, or the
 * server is another one.
 */
export type CheckpointState = 'saved' | 'lost' | 'moved';

/** The checkpoint follows at least this often while there is something to save. */
export const CHECKPOINT_MS = 100;

/** Saves how far a run has come, each time from where the checkpoint was last known to be. */
export class CheckpointWriter {
  readonly #consumers: ConsumerStore;
  readonly #lease: HeldLease;
  #saved: LogCursor;
  #unsaved: LogCursor | undefined;
  /** Sent, and no answer came: the checkpoint may be there. */
  #inDoubt: LogCursor[] = [];
  #savedMs = 0;

  constructor(consumers: ConsumerStore, consumer: LeasedConsumer, lease: HeldLease) {
    this.#consumers = consumers;
    this.#lease = lease;
    this.#saved = consumer.cursor;
  }

  /** Something is to be saved. */
  get pending(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Everything up to here is done. */
  reached(cursor: LogCursor): void {
    this.#unsaved = cursor;
  }

  /** Saves the checkpoint if it is due. @param now whether it is due or not */
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

  /** The lease may be lost, or an earlier statement whose answer was lost has moved the checkpoint after all. */
  async #lookAfterRefusal(wanted: LogCursor): Promise<CheckpointState> {
    const standing = await this.#consumers.standing(this.#lease.lease);
    if (standing === undefined) return 'lost';
    const { cursor: found, superseded } = standing;
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
