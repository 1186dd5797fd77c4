import { TransientMap } from '../../collections/transient-map.js';
import { type LogCursor, type LoggedEvent, modelKeyOf } from './event-record.js';

/** How far the log has been read, and whether what was read there needs nothing any more. */
interface Place {
  readonly cursor: LogCursor;
  done: boolean;
}

/** An event that was read and is not yet behind the checkpoint. */
export interface WindowEntry {
  readonly event: LoggedEvent;
  readonly place: Place;
  /** Failed attempts so far. */
  attempts: number;
  /** Failures in a row that do not count as attempts. */
  passed: number;
}

/** The events of one model that wait, in order. */
export interface ModelQueue {
  readonly key: string;
  readonly entries: WindowEntry[];
  /** A handler works on it, or it pauses after a failure. */
  busy: boolean;
}

/**
 * The events between the checkpoint and the end of the read log: in log order for the checkpoint, and in one queue per
 * model for the handlers. The checkpoint advances only to where all earlier events are done.
 */
export class ModelWindow {
  /** In log order. */
  readonly #places: Place[] = [];
  readonly #queues = new TransientMap<ModelQueue>();
  #ready: ModelQueue[] = [];
  #open = 0;

  /** Events and marks that are not yet behind the checkpoint. */
  get size(): number {
    return this.#places.length;
  }

  /** Events that are not done. */
  get open(): number {
    return this.#open;
  }

  /** Takes an event in, which the caller handles by itself: it joins no queue. */
  admitAside(event: LoggedEvent): WindowEntry {
    const place = { cursor: event.cursor, done: false };
    this.#places.push(place);
    this.#open += 1;
    return { event, place, attempts: 0, passed: 0 };
  }

  /** Takes an event in, at the end of its model's queue. @param attempts that have failed before this run */
  admit(event: LoggedEvent, attempts = 0): void {
    const entry = this.admitAside(event);
    entry.attempts = attempts;
    const key = modelKeyOf(event);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = { key, entries: [], busy: false };
      this.#queues.set(key, queue);
      this.#ready.push(queue);
    }
    queue.entries.push(entry);
  }

  /** Records that everything up to here has been read. */
  mark(cursor: LogCursor): void {
    this.#places.push({ cursor, done: true });
  }

  /** A free model, taken for the caller; `giveBack` returns it. */
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

  done({ place }: WindowEntry): void {
    place.done = true;
    this.#open -= 1;
  }

  /** Drops what is done at the head. The cursor of the last one dropped, if any. */
  advance(): LogCursor | undefined {
    const open = this.#places.findIndex(({ done }) => !done);
    const dropped = this.#places.splice(0, open === -1 ? this.#places.length : open);
    return dropped.at(-1)?.cursor;
  }
}

/**
 * How many events at the head of a queue may be handled at once: neither tried before nor watched, but for the first.
 */
export function freshAtOnce(
  { entries }: ModelQueue,
  most: number,
  isWatched: (eventId: string) => boolean,
): number {
  let count = Math.min(1, entries.length);
  if (most === 1 || entries[0]?.attempts !== 0 || isWatched(entries[0].event.id)) return count;
  for (const { event, attempts } of entries.slice(1, most)) {
    if (attempts > 0 || isWatched(event.id)) break;
    count += 1;
  }
  return count;
}
