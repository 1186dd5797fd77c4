import { backoffMs } from '../concurrency/backoff.js';
import { type Timer, time } from '../concurrency/time.js';
import { messageOf } from '../errors.js';
import { RunInterrupted } from '../events/delivery/attempts.js';
import type { PublishOutcome, RelayMessage, RelaySink } from './relay-sink.js';

/** Bounds of what a sink gets at once. */
export interface PublishLimits {
  /** Most messages of one batch. */
  readonly batchSize: number;
  /** Most bytes of one batch, unless one message alone is larger. */
  readonly batchBytes: number;
  /** Batches under way at a time. */
  readonly inFlight: number;
  /** A batch that gets no answer within this time is sent again, in milliseconds. */
  readonly timeoutMs: number;
  /** Longest first pause after a batch that failed, in milliseconds; doubled up to `LONGEST_PAUSE_MS`. */
  readonly retryDelayMs: number;
}

const LONGEST_PAUSE_MS = 30_000;

/** The receiver did not take a message, and may later: no attempt. */
export class SinkUnavailable extends Error {
  readonly code = 'FW_SINK_UNAVAILABLE';

  constructor(reason: string) {
    super(reason);
    this.name = 'SinkUnavailable';
  }
}

/** The receiver cannot take a message. */
export class SinkRejected extends Error {
  readonly code = 'FW_SINK_REJECTED';

  constructor(reason: string) {
    super(reason);
    this.name = 'SinkRejected';
  }
}

/** The receiver wants no more messages. */
export class SinkGone extends Error {
  readonly code = 'FW_SINK_GONE';

  constructor(reason: string) {
    super(reason);
    this.name = 'SinkGone';
  }
}

/** What a queue counts. */
export interface PublishCounts {
  accepted: number;
  deferred: number;
  rejected: number;
  /** False while the receiver takes no messages. */
  takes: boolean;
}

type Deferred = Extract<PublishOutcome, { kind: 'deferred' }>;

/** Messages of one model, in order. */
interface Group {
  readonly messages: readonly RelayMessage[];
  /** Messages at the head that were accepted. */
  accepted: number;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: RunInterrupted) => void;
}

export interface PublishQueueOptions {
  readonly name: string;
  readonly sink: RelaySink;
  readonly limits: PublishLimits;
  readonly random: () => number;
  readonly counts: PublishCounts;
  /** Called once each time that the receiver stops taking messages, and once when it takes them again. */
  readonly warn: (message: string) => void;
}

/**
 * Collects what waits for one sink into batches. While the receiver does not answer, what waits stays here, so that
 * nothing more is read from the log, and one batch after growing pauses tries whether it does again.
 */
export class PublishQueue {
  readonly #options: PublishQueueOptions;
  readonly #waiting: Group[] = [];
  #inFlight = 0;
  /** Batches in a row that failed. */
  #failures = 0;
  #pause: Timer | undefined;
  #stopping = false;
  #filling = false;

  constructor(options: PublishQueueOptions) {
    this.#options = options;
  }

  /**
   * Resolves once all messages were accepted. Messages of one key come in one call at a time.
   *
   * @param signal aborted when nothing more is to be sent
   * @throws RunInterrupted caused by SinkRejected, SinkGone or, when delivery ends, SinkUnavailable
   */
  publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ messages, accepted: 0, signal, resolve, reject });
      this.#fillSoon();
    });
  }

  /** Delivery ends: what the receiver does not take at once is given up. */
  stop(): void {
    this.#stopping = true;
    if (this.#pause === undefined) return;
    time.clearTimeout(this.#pause);
    this.#pause = undefined;
    for (const group of this.#waiting.splice(0)) giveUp(group);
  }

  /** What comes in one turn of the event loop travels together. */
  #fillSoon(): void {
    if (this.#filling) return;
    this.#filling = true;
    time.setImmediate(() => {
      this.#filling = false;
      this.#fill();
    });
  }

  #fill(): void {
    const { inFlight } = this.#options.limits;
    // After a failure one batch tries alone.
    const most = this.#failures > 0 ? 1 : inFlight;
    while (this.#pause === undefined && this.#inFlight < most) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      void this.#send(batch);
    }
  }

  #take(): readonly Group[] {
    const { batchSize, batchBytes } = this.#options.limits;
    const batch: Group[] = [];
    let [count, bytes] = [0, 0];
    let used = 0;
    for (const group of this.#waiting) {
      if (group.signal.aborted) {
        giveUp(group);
        used += 1;
        continue;
      }
      const messages = remaining(group);
      const size = messages.reduce((sum, { body }) => sum + body.length, 0);
      if (batch.length > 0 && (count + messages.length > batchSize || bytes + size > batchBytes)) break;
      count += messages.length;
      bytes += size;
      used += 1;
      batch.push(group);
    }
    this.#waiting.splice(0, used);
    return batch;
  }

  async #send(batch: readonly Group[]): Promise<void> {
    const messages = batch.flatMap(remaining);
    const outcomes = await this.#publish(messages);
    let next = 0;
    let deferred: Deferred | undefined;
    const again: Group[] = [];
    for (const group of batch) {
      const count = group.messages.length - group.accepted;
      const stop = this.#settle(group, outcomes.slice(next, next + count));
      next += count;
      if (stop === undefined) continue;
      deferred ??= stop;
      again.push(group);
    }
    this.#inFlight -= 1;
    this.#waiting.unshift(...again);
    if (deferred === undefined) this.#succeeded();
    else this.#failed(deferred);
    this.#fill();
  }

  /** Never rejects. */
  async #publish(messages: readonly RelayMessage[]): Promise<readonly PublishOutcome[]> {
    const { sink, limits } = this.#options;
    const abort = new AbortController();
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = time.setTimeout(() => {
        reject(new Error(`no answer within ${limits.timeoutMs} ms`));
        abort.abort();
      }, limits.timeoutMs);
    });
    try {
      return await Promise.race([sink.publish(messages, abort.signal), late]);
    } catch (error) {
      return messages.map(() => ({ kind: 'deferred', reason: messageOf(error) }));
    } finally {
      time.clearTimeout(timer);
    }
  }

  /** What makes the rest of a group be sent again, if anything does. */
  #settle(group: Group, outcomes: readonly PublishOutcome[]): Deferred | undefined {
    const { counts } = this.#options;
    for (const outcome of remaining(group).map((_, index) => outcomes[index] ?? MISSING)) {
      if (outcome.kind === 'deferred') return outcome;
      if (outcome.kind !== 'accepted') {
        counts.rejected += 1;
        group.reject(new RunInterrupted(group.accepted, failureOf(outcome)));
        return undefined;
      }
      group.accepted += 1;
      counts.accepted += 1;
    }
    group.resolve();
    return undefined;
  }

  #succeeded(): void {
    if (this.#failures === 0) return;
    const { name, counts, warn } = this.#options;
    this.#failures = 0;
    counts.takes = true;
    warn(`${name} takes messages again`);
  }

  #failed({ reason, retryAfterMs = 0 }: Deferred): void {
    const { name, limits, random, counts, warn } = this.#options;
    counts.deferred += 1;
    counts.takes = false;
    if (this.#stopping) {
      for (const group of this.#waiting.splice(0)) giveUp(group);
      return;
    }
    if (this.#failures === 0) warn(`${name} takes no messages: ${reason}. They are sent again`);
    this.#failures += 1;
    const backoff = { firstMs: limits.retryDelayMs, longestMs: LONGEST_PAUSE_MS, least: 'half' } as const;
    const pauseMs = backoffMs(this.#failures, backoff, random());
    time.clearTimeout(this.#pause);
    this.#pause = time.setTimeout(
      () => {
        this.#pause = undefined;
        this.#fill();
      },
      Math.max(pauseMs, Math.min(retryAfterMs, LONGEST_PAUSE_MS)),
    );
    this.#pause.unref();
  }
}

function remaining({ messages, accepted }: Group): readonly RelayMessage[] {
  return accepted === 0 ? messages : messages.slice(accepted);
}

function failureOf({ kind, reason }: Extract<PublishOutcome, { kind: 'rejected' | 'gone' }>): Error {
  return kind === 'gone' ? new SinkGone(reason) : new SinkRejected(reason);
}

const MISSING: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'the sink gave no outcome for it',
});

function giveUp(group: Group): void {
  group.reject(new RunInterrupted(group.accepted, new SinkUnavailable('delivery ends')));
}
