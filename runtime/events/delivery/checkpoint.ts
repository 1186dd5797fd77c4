import { time } from '../../concurrency/time.js';
import type { Transaction } from '../../sharding/transaction-manager.js';
import type { LogCursor } from '../log/event-record.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { ConsumerStore } from './consumer-store.js';
import type { LeasedLoop } from './leased-loop.js';

/** The checkpoint of a run. Each statement moves it from its last known position only. */
export class Checkpoint {
  /** Where it was last known to be. A transaction that has moved it sets this once it is committed. */
  saved: LogCursor;
  readonly #consumers: ConsumerStore;
  readonly #loop: LeasedLoop;

  constructor({ consumer, consumers }: Pick<ConsumerRunOptions, 'consumer' | 'consumers'>, loop: LeasedLoop) {
    this.saved = consumer.cursor;
    this.#consumers = consumers;
    this.#loop = loop;
  }

  /** Moves it. False if that had no effect: then `learn` finds out why. */
  async moveTo(to: LogCursor, transaction?: Transaction): Promise<boolean> {
    const { lease } = this.#loop;
    const askedMs = time.nowMs();
    const move = { from: this.saved, to };
    if (!(await this.#consumers.checkpoint(lease.lease, move, lease.durationMs, transaction))) return false;
    if (transaction !== undefined) return true;
    lease.renewed(askedMs);
    this.saved = to;
    return true;
  }

  /**
   * Reads where it is, after a statement without effect or a commit of unknown outcome: an earlier statement may have
   * moved it, although its reply was lost. Ends the run if the lease is lost, or was taken on another server.
   *
   * @returns whether the run holds its lease
   */
  async learn(): Promise<boolean> {
    const stored = await this.#consumers.readState(this.#loop.lease.lease);
    if (stored === undefined) this.#loop.finish({ kind: 'lost' });
    else if (stored.superseded) this.#loop.supersede();
    else this.saved = stored.cursor;
    return stored?.superseded === false;
  }
}
