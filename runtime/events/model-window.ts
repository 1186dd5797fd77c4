import { type LogCursor, type LoggedEvent, modelKeyOf } from './event-record.js';

/** An event that was read and is not yet behind the checkpoint. */
export interface WindowEntry {
  readonly event: LoggedEvent;
  /** Failed attempts so far. */
  attempts: number;
}

interface Place {
  readonly cursor: LogCursor;
  done: boolean;
}

/** The events of one model that wait, in order. */
export interface ModelQueue {
  readonly key: string;
  readonly entries: WindowEntry[];
  /** Somebody works on it, or it pauses after a failure. */
  busy: boolean;
}

/**
 * What lies between the checkpoint and the end of what was read: in log order for the checkpoint, and in one queue per
 * model for those who work on it. The checkpoint can follow only where everything before is done.
 */
export class ModelWindow {
  readonly #places = new Map<WindowEntry | LogCursor, Place>();
  readonly #queues = new Map<string, ModelQueue>();
  #ready: ModelQueue[] = [];

  /** Events and marks that are not yet behind the checkpoint. */
  get size(): number {
    return this.#places.size;
  }

  /** Takes an event in, which the caller handles by itself: it joins no queue. */
  admitAside(event: LoggedEvent): WindowEntry {
    const entry = { event, attempts: 0 };
    this.#places.set(entry, { cursor: event.cursor, done: false });
    return entry;
  }

  /** Takes an event in, at the end of its model's queue. */
  admit(event: LoggedEvent): void {
    const entry = this.admitAside(event);
    const key = modelKeyOf(event);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = { key, entries: [], busy: false };
      this.#queues.set(key, queue);
      this.#ready.push(queue);
    }
    queue.entries.push(entry);
  }

  /** Notes that everything up to here has been looked at. */
  mark(cursor: LogCursor): void {
    this.#places.set(cursor, { cursor, done: true });
  }

  /** A model that nobody works on, taken for the caller; `giveBack` returns it. */
  take(): ModelQueue | undefined {
    const queue = this.#ready.shift();
    if (queue !== undefined) queue.busy = true;
    return queue;
  }

  giveBack(queue: ModelQueue): void {
    queue.busy = false;
    if (queue.entries.length === 0) this.#queues.delete(queue.key);
    else this.#ready.push(queue);
  }

  done(entry: WindowEntry): void {
    const place = this.#places.get(entry);
    if (place !== undefined) place.done = true;
  }

  /** Drops what is done at the head. The cursor of the last one dropped, if any. */
  advance(): LogCursor | undefined {
    let last: LogCursor | undefined;
    for (const [key, { cursor, done }] of this.#places) {
      if (!done) break;
      last = cursor;
      this.#places.delete(key);
    }
    return last;
  }
}
