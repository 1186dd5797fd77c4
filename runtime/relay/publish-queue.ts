import { within } from '../concurrency/at-most.js';
import { backoffMs } from '../concurrency/backoff.js';
import { type Timer, time } from '../concurrency/time.js';
import { messageOf } from '../errors.js';
import { RunInterrupted } from '../events/delivery/attempts.js';
import { during, remoteSpan, type Span, startShared } from '../tracing.js';
import type { PublishOutcome, RelayMessage, RelaySink } from './relay-sink.js';
import type { SinkStatistics } from './sink-definition.js';

/** Limits of a sink's batches. */
export interface PublishLimits {
  /** Maximum messages per batch. */
  readonly batchSize: number;
  /** Maximum bytes per batch, unless a single message is larger. */
  readonly batchBytes: number;
  /** Maximum batches in flight. */
  readonly inFlight: number;
  /** A batch without an answer in this time is sent again, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum first pause after a failed batch, in milliseconds; doubled up to `LONGEST_PAUSE_MS`. */
  readonly retryDelayMs: number;
}

const LONGEST_PAUSE_MS = 30_000;
/** Maximum pause that a receiver can request, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** The receiver did not accept a message. The code is that of its dead letter. */
class SinkFailure extends Error {
  readonly code: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The receiver may accept the message later. Does not count as an attempt. */
export class SinkUnavailable extends SinkFailure {}

/** The receiver cannot process a message. */
export class SinkRejected extends SinkFailure {}

/** The receiver accepts no more messages. */
export class SinkGone extends SinkFailure {}

/** Counters of a queue. */
export type PublishCounts = {
  -readonly [Name in keyof Omit<SinkStatistics, 'sink' | 'shard'>]: SinkStatistics[Name];
};

type Deferred = Extract<PublishOutcome, { kind: 'deferred' }>;

/** What a batch says about the receiver. */
export type BatchResult =
  | { readonly kind: 'done' }
  /** It works, but does not accept the first messages of some models: these wait. */
  | { readonly kind: 'partly'; readonly reason: string }
  /** It accepts no messages: all wait, for at least this time. */
  | { readonly kind: 'back off'; readonly reason: string; readonly retryAfterMs: number | undefined };

/** @param deferred the deferred outcomes that keep the models of the batch from continuing */
export function resultOf(outcomes: readonly PublishOutcome[], deferred: readonly Deferred[]): BatchResult {
  const [first] = deferred;
  if (first === undefined) return { kind: 'done' };
  const { reason } = first;
  const requested = deferred.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const someAccepted = outcomes.some(({ kind }) => kind !== 'deferred');
  if (someAccepted && requested.length === 0) return { kind: 'partly', reason };
  const retryAfterMs =
    requested.length === 0 ? undefined : Math.min(Math.max(...requested), LONGEST_RETRY_AFTER_MS);
  return { kind: 'back off', reason, retryAfterMs };
}

/** Messages of one model, in order. */
interface Group {
  readonly messages: readonly RelayMessage[];
  /** Accepted messages at the head. */
  accepted: number;
  /** Consecutive batches in which the receiver accepted other messages, but not the head of this group. */
  deferrals: number;
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
  /** Called once when the receiver stops accepting messages, and once when it accepts them again. */
  readonly warn: (message: string) => void;
}

/**
 * Groups the waiting messages of one sink into batches. While the receiver does not answer, messages stay in the queue,
 * so that the log is not read further, and single batches with growing pauses test whether it answers again. A receiver
 * that accepts only some messages of a batch is not down: only the models of the others wait.
 */
export class PublishQueue {
  readonly #options: PublishQueueOptions;
  readonly #waiting: Group[] = [];
  /** Groups with a pause of their own. */
  readonly #aside = new Map<Group, Timer>();
  #inFlight = 0;
  /** Consecutive failed batches. */
  #failures = 0;
  #pause: Timer | undefined;
  /** Whether the last failure concerned one model only, which may be the cause instead of the receiver. */
  #isOneModel = false;
  /** End of the pause that the receiver has requested. */
  #retryNotBeforeMs = Number.NEGATIVE_INFINITY;
  /** Why the receiver did not accept the last batch. */
  #reason = '';
  /** Whether a warning has reported that the receiver accepts only some messages. */
  #reported = false;
  #stopping = false;
  #filling = false;

  constructor(options: PublishQueueOptions) {
    this.#options = options;
  }

  /** What prevents messages from being sent, for operators. Undefined: nothing. */
  get obstacle(): string | undefined {
    if (this.#failures > 0) return `the receiver accepts no messages: ${this.#reason}`;
    return this.#aside.size > 0 ? `the receiver does not accept some messages: ${this.#reason}` : undefined;
  }

  /**
   * Resolves once all messages are accepted. The caller passes messages of one key in one call at a time.
   *
   * @param signal aborted when no more messages must be sent
   * @throws RunInterrupted caused by SinkRejected, SinkGone or, when delivery ends, SinkUnavailable
   */
  publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ messages, accepted: 0, deferrals: 0, signal, resolve, reject });
      if (this.#isOneModel) this.#endPause();
      this.#fillSoon();
    });
  }

  /** Called when delivery ends: messages that the receiver does not accept at once are given up. */
  stop(): void {
    this.#stopping = true;
    for (const [group, timer] of this.#aside) {
      time.clearTimeout(timer);
      giveUp(group);
    }
    this.#aside.clear();
    if (this.#pause === undefined) return;
    this.#endPause();
    for (const group of this.#waiting.splice(0)) giveUp(group);
  }

  /** Sends the messages of one turn of the event loop together. */
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
    // After a failure, only one batch is in flight.
    const most = this.#failures > 0 ? 1 : inFlight;
    while (this.#pause === undefined && this.#inFlight < most) {
      const batch = this.#take();
      if (batch.length === 0) {
        if (this.#inFlight > 0) return;
        // All waiting messages were given up, because another process may be sending them.
        this.#failures = 0;
        this.#options.counts.accepting = true;
        return;
      }
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
      const size = messages.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
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
    const deferred: Deferred[] = [];
    const waiting: Group[] = [];
    for (const group of batch) {
      const count = group.messages.length - group.accepted;
      const outcome = this.#settle(group, outcomes.slice(next, next + count));
      next += count;
      if (outcome === undefined) continue;
      deferred.push(outcome);
      waiting.push(group);
    }
    this.#inFlight -= 1;
    const result = resultOf(outcomes, deferred);
    if (result.kind === 'done') {
      if (this.#aside.size === 0) this.#reported = false;
      this.#answered();
    } else if (result.kind === 'partly') this.#setAside(waiting, result.reason);
    else this.#backOff(waiting, result);
    this.#fill();
  }

  /** Sends one batch. Never rejects. */
  async #publish(messages: readonly RelayMessage[]): Promise<readonly PublishOutcome[]> {
    const { sink, limits, name } = this.#options;
    const attributes = {
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': messages.length,
      'fw.sink': name,
    };
    const span = startShared('publish', causesOf(messages), { kind: 'PRODUCER', attributes });
    const abort = new AbortController();
    try {
      const outcomes: readonly (PublishOutcome | undefined)[] | undefined = await during(span, () =>
        within(sink.publish(messages, abort.signal), limits.timeoutMs, () => {
          throw new Error(`no answer within ${limits.timeoutMs} ms`);
        }),
      );
      // An application's sink may forget some.
      return messages.map((_, index) => outcomes?.[index] ?? MISSING);
    } catch (error) {
      abort.abort();
      return messages.map(() => ({ kind: 'deferred', reason: messageOf(error) }));
    }
  }

  /** Applies the outcomes to a group. Returns the reason why its rest is sent again, if any. */
  #settle(group: Group, outcomes: readonly PublishOutcome[]): Deferred | undefined {
    const { counts } = this.#options;
    for (const outcome of outcomes) {
      if (outcome.kind === 'deferred') return outcome;
      if (outcome.kind !== 'accepted') {
        counts.rejected += 1;
        group.reject(new RunInterrupted(group.accepted, failureOf(outcome)));
        return undefined;
      }
      group.accepted += 1;
      group.deferrals = 0;
      counts.accepted += 1;
    }
    group.resolve();
    return undefined;
  }

  #answered(): void {
    if (this.#failures === 0) return;
    const { name, counts, warn } = this.#options;
    this.#failures = 0;
    counts.accepting = true;
    warn(`${name} accepts messages again`);
  }

  /** Lets these groups wait, because the receiver accepts other messages. */
  #setAside(groups: readonly Group[], reason: string): void {
    const { name, counts, warn } = this.#options;
    this.#answered();
    counts.deferred += 1;
    this.#reason = reason;
    if (!this.#reported) warn(`${name} does not accept some messages: ${reason}. They will be resent`);
    this.#reported = true;
    for (const group of groups) {
      group.deferrals += 1;
      const comeBack = (): void => this.#comeBack(group);
      if (this.#stopping) giveUp(group);
      else this.#aside.set(group, time.setTimeout(comeBack, this.#pauseMs(group.deferrals)).unref());
    }
  }

  #comeBack(group: Group): void {
    this.#aside.delete(group);
    this.#waiting.unshift(group);
    this.#fillSoon();
  }

  #endPause(): void {
    time.clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #pauseMs(failures: number): number {
    const { limits, random } = this.#options;
    const backoff = { firstMs: limits.retryDelayMs, longestMs: LONGEST_PAUSE_MS, least: 'half' } as const;
    return backoffMs(failures, backoff, random());
  }

  #forgetPause(): void {
    this.#retryNotBeforeMs = Number.NEGATIVE_INFINITY;
    this.#endPause();
    this.#fillSoon();
  }

  /** Lets all messages wait, because the receiver accepts none. */
  #backOff(
    groups: readonly Group[],
    { reason, retryAfterMs }: Extract<BatchResult, { kind: 'back off' }>,
  ): void {
    const { name, counts, warn } = this.#options;
    const nowMs = time.nowMs();
    this.#waiting.unshift(...groups);
    if (retryAfterMs !== undefined)
      this.#retryNotBeforeMs = Math.max(this.#retryNotBeforeMs, nowMs + retryAfterMs);
    this.#isOneModel = groups.length === 1 && this.#retryNotBeforeMs < nowMs;
    counts.deferred += 1;
    counts.accepting = false;
    this.#reason = reason;
    if (this.#stopping) {
      for (const group of this.#waiting.splice(0)) giveUp(group);
      return;
    }
    if (this.#failures === 0) warn(`${name} accepts no messages: ${reason}. They will be resent`);
    this.#failures += 1;
    this.#endPause();
    // Another process may continue, or an operator has ended the pause.
    const endedBy = groups[0]?.signal;
    endedBy?.addEventListener('abort', () => this.#forgetPause(), { once: true });
    const pauseMs = Math.max(this.#pauseMs(this.#failures), this.#retryNotBeforeMs - nowMs);
    this.#pause = time.setTimeout(() => {
      this.#pause = undefined;
      this.#fill();
    }, pauseMs);
    this.#pause.unref();
  }
}

function remaining({ messages, accepted }: Group): readonly RelayMessage[] {
  return accepted === 0 ? messages : messages.slice(accepted);
}

function failureOf({ kind, reason }: Extract<PublishOutcome, { kind: 'rejected' | 'gone' }>): Error {
  return kind === 'gone'
    ? new SinkGone('FW_SINK_GONE', reason)
    : new SinkRejected('FW_SINK_REJECTED', reason);
}

const MISSING: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'the sink returned no outcome for it',
});

function giveUp(group: Group): void {
  group.reject(
    new RunInterrupted(group.accepted, new SinkUnavailable('FW_SINK_UNAVAILABLE', 'delivery is stopping')),
  );
}

function* causesOf(messages: readonly RelayMessage[]): Iterable<Span> {
  for (const { traceContext } of messages) if (traceContext !== undefined) yield remoteSpan(traceContext);
}
