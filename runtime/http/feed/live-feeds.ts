import type { ServerResponse } from 'node:http';
import { type Timer, time } from '../../concurrency/time.js';
import { type Id, ShardedId } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { TooManyRequestsError, UnauthenticatedError } from '../../errors.js';
import type { FeedEvent, FeedPage, FollowedModel } from '../../persistence/read/feed-reader.js';
import { HttpProblem } from '../problem.js';

/** Reads the next events of followed models of one shard. */
export type ReadFeeds = (
  shard: ShardIdentifier,
  models: readonly FollowedModel[],
  page: FeedPage,
) => Promise<readonly (readonly FeedEvent[])[]>;

/** Options of the streams, each with its default. */
const DEFAULTS = {
  /** Maximum streams of this process; further ones are answered with 503. */
  streams: 1_000,
  /** Maximum streams of one caller in this process; further ones are answered with 429. */
  streamsPerCaller: 100,
  /**
   * Data that clients have not read yet, in bytes over all streams: above it, only clients that have read everything
   * are sent more.
   */
  bufferBytes: 67_108_864,
  /** Poll interval of each shard with streams, in milliseconds. */
  pollMs: 250,
  /** Maximum age of a stream, in milliseconds: then its client reconnects and is authorized again. */
  maximumAgeMs: 300_000,
  /** Interval at which the caller of each stream is authenticated again, in milliseconds. */
  authenticateMs: 2_000,
  /** Interval of comments that keep quiet connections open, in milliseconds. */
  heartbeatMs: 15_000,
};

export interface LiveFeedsOptions extends Partial<typeof DEFAULTS> {
  readonly read: ReadFeeds;
  /** Returns the shard of models without a sharded id. */
  readonly defaultShard: () => ShardIdentifier;
}

/** The reply that becomes a stream: Fastify's. */
export interface StreamedReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
}

/** Who follows, and from where. */
export interface Subscriber {
  /** Name of the principal. */
  readonly caller: string;
  /** Version of the last event that the client has received; 0 if none. */
  readonly after: number;
  /** Authenticates the caller again. A stream of a caller who is refused ends. */
  readonly authenticate: () => unknown;
}

interface Stream extends FollowedModel {
  readonly response: ServerResponse;
  readonly caller: string;
  readonly authenticate: () => unknown;
  authenticatedMs: number;
  after: number;
  position: string;
  quietSinceMs: number;
  readonly openedMs: number;
}

/** Maximum models per statement. */
const MODELS_PER_READ = 200;
/** Maximum events of one model per statement. */
const MODEL_EVENTS = 100;
/** Maximum events of a shard per poll, for all streams: the rest of a long history is sent with the next polls. */
const POLL_EVENTS = 2_000;
/** Payload of one statement after which its feeds are cut, in bytes, and the least part of one feed. */
const READ_BYTES = 4_194_304;
const MODEL_BYTES = 65_536;
/** While a client has not read this much data, nothing more is sent to it, in bytes. */
const STREAM_BUFFER_BYTES = 262_144;
/** A client that has not read the end of its stream after this time is disconnected, in milliseconds. */
const END_GRACE_MS = 10_000;
/** Time after which a disconnected client reconnects, in milliseconds. */
const RECONNECT_MS = 1_000;
/** Retry hint for a caller with too many streams, in milliseconds. */
const FULL_RETRY_MS = 5_000;

/** Headers of every stream. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  connection: 'close',
};

/**
 * Server-sent events of models. The streams of a shard share the statements of a poll, and streams of one model that
 * stand at the same event share its part. What is read and written is bounded per stream, per poll and in all.
 */
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
    return this.#all().length;
  }

  /**
   * Answers with the events of a model after a version, and with later ones, until the client or the server ends it. A
   * closing server ends it at once, because a browser reconnects after the end of a stream, but not after a refusal.
   *
   * @throws HttpProblem if there are too many streams @throws TooManyRequestsError if the caller has too many
   */
  open(reply: StreamedReply, id: Id<unknown>, { caller, after, authenticate }: Subscriber): void {
    // A client that has left while the action ran; its connection does not report that again.
    if (reply.raw.destroyed || reply.raw.socket?.readableEnded === true) {
      reply.raw.destroy();
      return;
    }
    this.#checkNumber(caller);
    const { raw: response } = reply;
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) response.setHeader(name, value);
    response.writeHead(200, HEADERS);
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    // A response to HEAD has the headers alone.
    if (this.#closed || response.req.method === 'HEAD') {
      response.end();
      return;
    }
    const shard = id instanceof ShardedId ? id.resolveShardIdentifier() : this.#options.defaultShard();
    const { modelName } = id;
    const now = time.nowMs();
    const model = { modelName, modelId: id.getValue(), after, position: '0' };
    const times = { quietSinceMs: now, openedMs: now, authenticatedMs: now };
    this.#add(shard, { ...model, response, caller, authenticate, ...times });
    this.#timer ??= time.setInterval(() => this.#look(), this.#options.pollMs).unref();
    void this.#read(shard);
  }

  /** Ends all streams: their clients reconnect, to another process or to this one after its restart. */
  close(): void {
    this.#closed = true;
    time.clearInterval(this.#timer);
    for (const { response } of this.#all()) response.end();
    this.#shards.clear();
  }

  #all(): readonly Stream[] {
    return [...this.#shards.values()].flatMap((streams) => [...streams]);
  }

  #checkNumber(caller: string): void {
    const { streams: most, streamsPerCaller } = this.#options;
    const count = this.#all().filter((stream) => stream.caller === caller).length;
    if (count >= streamsPerCaller)
      throw new TooManyRequestsError(`${caller} has ${count} event streams open`, FULL_RETRY_MS);
    if (this.size >= most)
      throw new HttpProblem('HTTP_BUSY', 'Too many event streams are open', {
        headers: { 'retry-after': String(FULL_RETRY_MS / 1_000) },
      });
  }

  #add(shard: ShardIdentifier, stream: Stream): void {
    const streams = this.#shards.get(shard) ?? new Set<Stream>();
    this.#shards.set(shard, streams.add(stream));
    const { response } = stream;
    // A client that has ended its side has left: it does not send requests behind a stream.
    response.socket?.once('end', () => response.destroy());
    response.once('close', () => {
      streams.delete(stream);
      if (streams.size === 0) this.#shards.delete(shard);
    });
  }

  #look(): void {
    if (this.#shards.size === 0) {
      time.clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const oldestMs = time.nowMs() - this.#options.maximumAgeMs;
    for (const [shard, streams] of this.#shards) {
      for (const stream of streams) {
        const { response, openedMs } = stream;
        if (openedMs < oldestMs - END_GRACE_MS) response.destroy();
        else if (openedMs < oldestMs) response.end();
        else {
          this.#keepOpen(stream);
          void this.#authenticate(stream);
        }
      }
      void this.#read(shard);
    }
  }

  /** Never rejects. A credential that cannot be checked now leaves the stream open. */
  async #authenticate(stream: Stream): Promise<void> {
    const now = time.nowMs();
    if (now - stream.authenticatedMs < this.#options.authenticateMs) return;
    stream.authenticatedMs = now;
    try {
      await stream.authenticate();
    } catch (error) {
      if (error instanceof UnauthenticatedError) stream.response.end();
    }
  }

  /** Never rejects. A shard that does not answer is read again at the next poll. */
  async #read(shard: ShardIdentifier): Promise<void> {
    if (this.#reading.has(shard)) return;
    this.#reading.add(shard);
    try {
      let events = POLL_EVENTS;
      let groups = this.#groupsOf(this.#shards.get(shard) ?? []);
      while (groups.length > 0 && events > 0) {
        const behind: Stream[] = [];
        for (let first = 0; first < groups.length && events > 0; first += MODELS_PER_READ)
          events -= await this.#readGroups(shard, groups.slice(first, first + MODELS_PER_READ), behind);
        groups = this.#groupsOf(behind);
      }
    } catch {
      // The streams stay open and get these events once the shard answers.
    }
    this.#reading.delete(shard);
  }

  /** Streams that can take events, by what they read next. Those that have waited longest come first. */
  #groupsOf(streams: Iterable<Stream>): readonly (readonly Stream[])[] {
    const buffered = this.#all().reduce((sum, { response }) => sum + response.writableLength, 0);
    const most = buffered < this.#options.bufferBytes ? STREAM_BUFFER_BYTES : 1;
    const groups = new Map<string, Stream[]>();
    for (const stream of streams) {
      const { response, modelName, modelId, after, position } = stream;
      if (response.destroyed || response.writableEnded || response.writableLength >= most) continue;
      const key = JSON.stringify([modelName, modelId, after, position]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [stream]);
      else group.push(stream);
    }
    return [...groups.values()];
  }

  /** @param behind receives the streams for which there may be more @returns the number of events */
  async #readGroups(
    shard: ShardIdentifier,
    groups: readonly (readonly Stream[])[],
    behind: Stream[],
  ): Promise<number> {
    const models = groups.flatMap(([first]) => first ?? []);
    const events = Math.min(MODEL_EVENTS, Math.ceil(POLL_EVENTS / models.length));
    const bytes = Math.max(MODEL_BYTES, Math.floor(READ_BYTES / models.length));
    const feeds = await this.#options.read(shard, models, { events, bytes });
    let count = 0;
    for (const [index, group] of groups.entries()) {
      const feed = feeds[index] ?? [];
      count += feed.length * group.length;
      const frames = framesOf(feed);
      for (const stream of group) this.#send(stream, frames);
      if (feed.length >= events) behind.push(...group);
    }
    // Streams that got events are asked for last at the next poll, so that none starves.
    const streams = this.#shards.get(shard);
    for (const stream of behind) if (streams?.delete(stream) === true) streams.add(stream);
    return count;
  }

  /** Sends whole versions until the client does not take more, in one write: a write costs more than its text. */
  #send(stream: Stream, frames: readonly Frame[]): void {
    const { response } = stream;
    if (response.destroyed || response.writableEnded) return;
    let sent = '';
    for (const { text, modelVersion, position } of frames) {
      if (response.writableLength + sent.length >= STREAM_BUFFER_BYTES) break;
      sent += text;
      stream.after = modelVersion;
      stream.position = position;
    }
    if (sent === '') return;
    response.write(sent);
    stream.quietSinceMs = time.nowMs();
  }

  /** Writes a comment to a quiet stream, also while its shard does not answer. */
  #keepOpen(stream: Stream): void {
    const { response, quietSinceMs } = stream;
    const now = time.nowMs();
    if (now - quietSinceMs < this.#options.heartbeatMs || response.writableLength > 0) return;
    if (response.destroyed || response.writableEnded) return;
    response.write(':\n\n');
    stream.quietSinceMs = now;
  }
}

/** The messages of one version of a model. */
interface Frame {
  text: string;
  readonly modelVersion: number;
  position: string;
}

function framesOf(events: readonly FeedEvent[]): readonly Frame[] {
  const frames: Frame[] = [];
  for (const [index, event] of events.entries()) {
    const { modelVersion, position } = event;
    const text = messageOf(event, events[index + 1]);
    const last = frames.at(-1);
    if (last?.modelVersion === modelVersion) {
      last.text += text;
      last.position = position;
    } else frames.push({ text, modelVersion, position });
  }
  return frames;
}

/**
 * A message. Only the last event of a version has its id: a stream that ends between two events of one version then
 * continues with the first of them. JSON text contains no line breaks.
 */
function messageOf(event: FeedEvent, next: FeedEvent | undefined): string {
  const { position: _, ...data } = event;
  const { modelVersion, eventType } = data;
  const id = next?.modelVersion === modelVersion ? '' : `id: ${modelVersion}\n`;
  return `${id}event: ${eventType}\ndata: ${JSON.stringify(data)}\n\n`;
}

const VERSION = /^\d{1,15}$/;

/** The version after which a stream begins. @throws HttpProblem for an invalid one */
export function lastVersion(header: string | readonly string[] | undefined): number {
  if (header === undefined || header === '') return 0;
  if (typeof header === 'string' && VERSION.test(header)) return Number(header);
  throw new HttpProblem('HTTP_MALFORMED_REQUEST', 'Last-Event-ID must be the version of a model');
}
