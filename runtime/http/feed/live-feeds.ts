import type { ServerResponse } from 'node:http';
import { type Timer, time } from '../../concurrency/time.js';
import { type Id, ShardedId } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { FeedEvent, FollowedModel } from '../../persistence/read/feed-reader.js';
import { HttpProblem } from '../problem.js';

/** Reads the next events of followed models of one shard. */
export type ReadFeeds = (
  shard: ShardIdentifier,
  models: readonly FollowedModel[],
  limit: number,
) => Promise<readonly (readonly FeedEvent[])[]>;

export interface LiveFeedsOptions {
  readonly read: ReadFeeds;
  /** Returns the shard of models without a sharded id. */
  readonly defaultShard: () => ShardIdentifier;
  /** Maximum streams of this process; further ones are answered with 503. Default 1,000. */
  readonly streams?: number;
  /** Poll interval of each shard with streams, in milliseconds. Default 250. */
  readonly pollMs?: number;
  /** Maximum age of a stream, in milliseconds: then its client reconnects and is authorized again. Default 300,000. */
  readonly maximumAgeMs?: number;
  /** Interval of comments that keep quiet connections open, in milliseconds. Default: 15,000. */
  readonly heartbeatMs?: number;
}

/** The reply that becomes a stream: Fastify's. */
export interface StreamedReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
}

interface Stream {
  readonly response: ServerResponse;
  readonly modelName: string;
  readonly modelId: string;
  after: number;
  quietSinceMs: number;
  readonly openedMs: number;
}

const DEFAULTS = { streams: 1_000, pollMs: 250, maximumAgeMs: 300_000, heartbeatMs: 15_000 };
/** Maximum events of one model per read. */
const PAGE = 100;
/** While a client has not read this much data, nothing more is sent to it, in bytes. */
const MOST_BUFFERED_BYTES = 262_144;
/** A client that has not read the end of its stream after this time is disconnected, in milliseconds. */
const END_GRACE_MS = 10_000;
/** Time after which a disconnected client reconnects, in milliseconds. */
const RECONNECT_MS = 1_000;

/** Headers of every stream. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  connection: 'close',
};

/** Server-sent events of models. All streams of a shard share one statement per poll. */
export class LiveFeeds {
  readonly #options: Required<LiveFeedsOptions>;
  readonly #shards = new Map<ShardIdentifier, Set<Stream>>();
  readonly #reading = new Set<ShardIdentifier>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: LiveFeedsOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Streams that are open. */
  get size(): number {
    let size = 0;
    for (const streams of this.#shards.values()) size += streams.size;
    return size;
  }

  /**
   * Answers with the events of a model after a version, and with later ones, until the client or the server ends it. A
   * closing server ends it at once, because a browser reconnects after the end of a stream, but not after a refusal.
   *
   * @throws HttpProblem if there are too many streams
   */
  open(reply: StreamedReply, id: Id<unknown>, { after }: { readonly after: number }): void {
    // The client has left while the action ran; its connection does not report that again.
    if (reply.raw.destroyed) return;
    if (this.size >= this.#options.streams)
      throw new HttpProblem('HTTP_BUSY', 'Too many event streams are open', {
        headers: { 'retry-after': '5' },
      });
    const { raw: response } = reply;
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) response.setHeader(name, value);
    response.writeHead(200, HEADERS);
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    if (this.#closed) {
      response.end();
      return;
    }
    const shard = id instanceof ShardedId ? id.resolveShardIdentifier() : this.#options.defaultShard();
    const { modelName } = id;
    const stream = {
      response,
      modelName,
      modelId: id.getValue(),
      after,
      quietSinceMs: time.nowMs(),
      openedMs: time.nowMs(),
    };
    const streams = this.#shards.get(shard) ?? new Set<Stream>();
    this.#shards.set(shard, streams.add(stream));
    response.once('close', () => {
      streams.delete(stream);
      if (streams.size === 0) this.#shards.delete(shard);
    });
    this.#timer ??= time.setInterval(() => this.#look(), this.#options.pollMs).unref();
    void this.#read(shard);
  }

  /** Ends all streams: their clients reconnect, to another process or to this one after its restart. */
  close(): void {
    this.#closed = true;
    time.clearInterval(this.#timer);
    for (const streams of this.#shards.values()) for (const { response } of streams) response.end();
    this.#shards.clear();
  }

  #look(): void {
    if (this.#shards.size === 0) {
      time.clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const oldestMs = time.nowMs() - this.#options.maximumAgeMs;
    for (const [shard, streams] of this.#shards) {
      for (const { response, openedMs } of streams) {
        if (openedMs < oldestMs - END_GRACE_MS) response.destroy();
        else if (openedMs < oldestMs) response.end();
      }
      void this.#read(shard);
    }
  }

  /** Never rejects. A shard that does not answer is read again at the next poll. */
  async #read(shard: ShardIdentifier): Promise<void> {
    if (this.#reading.has(shard)) return;
    this.#reading.add(shard);
    try {
      while (await this.#readOnce(shard));
    } catch {
      // The streams stay open and get these events once the shard answers.
    }
    this.#reading.delete(shard);
  }

  /** True if there may be more. */
  async #readOnce(shard: ShardIdentifier): Promise<boolean> {
    const streams = [...(this.#shards.get(shard) ?? [])].filter(({ response }) => isTaking(response));
    if (streams.length === 0) return false;
    const feeds = await this.#options.read(shard, streams, PAGE);
    let more = false;
    for (const [index, stream] of streams.entries()) {
      const events = feeds[index] ?? [];
      more ||= events.length >= PAGE;
      this.#send(stream, events);
    }
    return more;
  }

  #send(stream: Stream, events: readonly FeedEvent[]): void {
    const { response } = stream;
    if (response.destroyed || response.writableEnded) return;
    const last = events.at(-1);
    if (last !== undefined) {
      stream.after = last.modelVersion;
      response.write(events.map((event, index) => frameOf(event, events[index + 1])).join(''));
    } else if (time.nowMs() - stream.quietSinceMs >= this.#options.heartbeatMs) response.write(':\n\n');
    else return;
    stream.quietSinceMs = time.nowMs();
  }
}

function isTaking(response: ServerResponse): boolean {
  return !response.destroyed && response.writableLength < MOST_BUFFERED_BYTES;
}

/**
 * A message. Only the last event of a version has its id: a stream that ends between two events of one version then
 * continues with the first of them. JSON text contains no line breaks.
 */
function frameOf(event: FeedEvent, next: FeedEvent | undefined): string {
  const { modelVersion, eventType } = event;
  const id = next?.modelVersion === modelVersion ? '' : `id: ${modelVersion}\n`;
  return `${id}event: ${eventType}\ndata: ${JSON.stringify(event)}\n\n`;
}

const VERSION = /^\d{1,15}$/;

/** The version after which a stream begins. @throws HttpProblem for an invalid one */
export function lastVersion(header: string | readonly string[] | undefined): number {
  if (header === undefined || header === '') return 0;
  if (typeof header === 'string' && VERSION.test(header)) return Number(header);
  throw new HttpProblem('HTTP_MALFORMED_REQUEST', 'Last-Event-ID must be the version of a model');
}
