import { TransientMap } from '../../collections/transient-map.js';
import { type LogCursor, type LoggedEvent, modelKeyOf } from './event-record.js';

/** A cursor up to which the log has been read, and whether everything before it is done. */
interface LogPosition {
  readonly cursor: LogCursor;
  /** Whether it is the end of a read, and no event. */
  readonly isMark: boolean;
  done: boolean;
}

/** An event that was read and is not yet before the checkpoint. */
export interface WindowEntry {
  readonly event: LoggedEvent;
  readonly position: LogPosition;
  attempts: number;
  /** Consecutive failures that do not count as attempts. */
  passed: number;
}

/** The waiting events of one model, in order. */
export interface ModelQueue {
  readonly key: string;
  readonly entries: WindowEntry[];
}

/**
 * The events between the checkpoint and the last read, in log order for the checkpoint and in one queue per model for
 * the handlers. The checkpoint advances only past finished events.
 */
export class ModelWindow {
  /** In log order. */
  readonly #positions: LogPosition[] = [];
  readonly #queues = new TransientMap<ModelQueue>();
  readonly #ready: ModelQueue[] = [];
  #size = 0;
  #open = 0;

  /** Number of events that the checkpoint has not passed. */
  get size(): number {
    return this.#size;
  }

  /** Number of unfinished events. */
  get open(): number {
    return this.#open;
  }

  /** Adds an event that the caller handles by itself: it joins no queue. */
  admitAside(event: LoggedEvent, attempts = 0): WindowEntry {
    const position = { cursor: event.cursor, isMark: false, done: false };
    this.#positions.push(position);
    this.#size += 1;
    this.#open += 1;
    return { event, position, attempts, passed: 0 };
  }

  /** Adds an event at the end of its model's queue. @param attempts failed attempts before this run */
  admit(event: LoggedEvent, attempts = 0): void {
    const entry = this.admitAside(event, attempts);
    const key = modelKeyOf(event);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = { key, entries: [] };
      this.#queues.set(key, queue);
      this.#ready.push(queue);
    }
    queue.entries.push(entry);
  }

  /** Records that the log has been read up to this cursor. Reads without events leave one mark behind the last event. */
  mark(cursor: LogCursor): void {
    if (this.#positions.at(-1)?.isMark === true) this.#positions.pop();
    this.#positions.push({ cursor, isMark: true, done: true });
  }

  /** Takes a free model for the caller, who returns it with `giveBack`. */
  take(): ModelQueue | undefined {
    return this.#ready.shift();
  }

  giveBack(queue: ModelQueue): void {
    if (queue.entries.length === 0) this.#queues.delete(queue.key);
    else this.#ready.push(queue);
  }

  /** Whether the checkpoint waits for this event. */
  isOldest({ position }: WindowEntry): boolean {
    return this.#positions.find(({ done }) => !done) === position;
  }

  done({ position }: WindowEntry): void {
    position.done = true;
    this.#open -= 1;
  }

  /** Removes the finished events at the head. Returns the cursor of the last one, if any. */
  advance(): LogCursor | undefined {
    const open = this.#positions.findIndex(({ done }) => !done);
    const dropped = this.#positions.splice(0, open === -1 ? this.#positions.length : open);
    for (const { isMark } of dropped) if (!isMark) this.#size -= 1;
    return dropped.at(-1)?.cursor;
  }
}

/** How many events at the head of a queue may be handled at once: none of them may have failed before. */
export function freshAtOnce(entries: readonly WindowEntry[], most: number): number {
  const tried = entries.slice(0, most).findIndex(({ attempts }) => attempts > 0);
  return tried < 0 ? Math.min(most, entries.length) : tried;
}
