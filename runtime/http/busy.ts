import { time } from '../concurrency/time.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardBusyError } from '../errors.js';
import type { HttpBusy, HttpShardBusy } from '../observability/metric-sets.js';
import { NO_SHARD } from './path-shard.js';
import { HttpProblem } from './problem.js';

/** Requests in progress of one shard; its bits are `NO_SHARD` for requests whose path names none. */
type ShardPlaces = { -readonly [Fact in keyof HttpShardBusy]: HttpShardBusy[Fact] };

/** Releases the place of a request; called once. */
export type Leave = () => void;

const SECOND_MS = 1_000;
/** Refused clients that may return per second: their refusals cost a few percent of the processor. */
const RETURNS_PER_SECOND = 250;
const LONGEST_RETURN_SECONDS = 15;

/**
 * Counts requests in progress, per shard and in all. A request above a limit is refused before any work: a queue would
 * only make every answer late.
 */
export class Places implements HttpBusy {
  readonly limits: HttpBusy['limits'];
  readonly #feeds: { readonly size: number } | undefined;
  readonly #shards = new Map<number, ShardPlaces>();
  #inFlight = 0;
  #second = { sinceMs: 0, refused: 0 };

  /** @param feeds event streams, which take no place once they are open */
  constructor(limits: HttpBusy['limits'], feeds?: { readonly size: number }) {
    this.limits = limits;
    this.#feeds = feeds;
  }

  get openFeeds(): number {
    return this.#feeds?.size ?? 0;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get shards(): readonly HttpShardBusy[] {
    return [...this.#shards.values()];
  }

  /** Whether a request for this shard would be refused now. */
  isFull(shard: number): boolean {
    const { requests, requestsPerShard } = this.limits;
    if (this.#inFlight >= requests) return true;
    return (this.#shards.get(shard)?.inFlight ?? 0) >= requestsPerShard;
  }

  /** Takes a place. Undefined if there is none. */
  take(shard: number): Leave | undefined {
    if (this.isFull(shard)) return undefined;
    const places = this.#of(shard);
    places.inFlight += 1;
    this.#inFlight += 1;
    return () => {
      places.inFlight -= 1;
      this.#inFlight -= 1;
    };
  }

  /** Counts a refused request. @returns its error, with the time after which its client may return */
  refuse(shard: number): Error {
    this.#of(shard).refused += 1;
    const seconds = this.#returnSeconds();
    if (shard === NO_SHARD)
      return new HttpProblem('HTTP_BUSY', '', { headers: { 'retry-after': String(seconds) } });
    const name = ShardIdentifier.fromBits(shard).toString();
    return new ShardBusyError(name, 'too many requests are in progress', {
      retryAfterMs: seconds * SECOND_MS,
    });
  }

  #of(shard: number): ShardPlaces {
    let places = this.#shards.get(shard);
    if (places === undefined) {
      places = { shard, inFlight: 0, refused: 0 };
      this.#shards.set(shard, places);
    }
    return places;
  }

  /** The more are refused in a second, the later the next ones return, so that they do not all return at once. */
  #returnSeconds(): number {
    const nowMs = time.nowMs();
    if (nowMs - this.#second.sinceMs >= SECOND_MS) this.#second = { sinceMs: nowMs, refused: 0 };
    this.#second.refused += 1;
    return Math.min(LONGEST_RETURN_SECONDS, Math.ceil(this.#second.refused / RETURNS_PER_SECOND));
  }
}
