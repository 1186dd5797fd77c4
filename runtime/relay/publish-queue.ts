import { onAbort } from '../concurrency/abort-listeners.js';
import { within } from '../concurrency/at-most.js';
import { backoffMs } from '../concurrency/backoff.js';
import { time } from '../concurrency/time.js';
import { messageOf, RetryLater } from '../errors.js';
import { RunInterrupted } from '../events/delivery/attempts.js';
import { during, remoteSpan, type Span, startShared } from '../tracing.js';
import type { PublishOutcome, RelayMessage, RelaySink } from './relay-sink.js';
import type { SinkSettings, SinkStatistics } from './sink-definition.js';

/** Limits of a sink's batches. */
export interface PublishLimits
  extends Pick<SinkSettings, 'batchSize' | 'inFlight' | 'timeoutMs' | 'retryDelayMs'> {
  /** Maximum bytes per batch, unless a single message is larger. */
  readonly batchBytes: number;
}

/** Maximum pause between attempts at a message that the receiver does not accept, in milliseconds. */
export const LONGEST_PAUSE_MS = 30_000;
/** Maximum pause that a receiver can request, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** The receiver cannot process a message. The code is that of its dead letter. */
export class SinkRejected extends Error {
  override readonly name: string = 'SinkRejected';
  readonly code: string = 'FW_SINK_REJECTED';
}

/** The receiver accepts no more messages. */
export class SinkGone extends Error {
  override readonly name: string = 'SinkGone';
  readonly code: string = 'FW_SINK_GONE';
}

export type PublishCounts = {
  -readonly [Name in keyof Omit<SinkStatistics, 'sink' | 'shard'>]: SinkStatistics[Name];
};

type Deferred = Extract<PublishOutcome, { kind: 'deferred' }>;

/** What a batch says about the receiver. */
export interface BatchResult {
  /** Whether it has accepted or rejected a message. */
  readonly answers: boolean;
  /** Milliseconds for which all models wait at least. Undefined: only those wait whose messages it did not accept. */
  readonly pauseMs: number | undefined;
}

/**
 * A receiver that has accepted nothing is down, unless the batch had one model only, which may be the cause.
 *
 * @param deferred the outcomes for which the models of the batch cannot continue, one for each
 */
export function resultOf(outcomes: readonly PublishOutcome[], deferred: readonly Deferred[]): BatchResult {
  const answers = outcomes.some(({ kind }) => kind !== 'deferred');
  const requested = deferred.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  if (requested.length === 0) return { answers, pauseMs: answers || deferred.length === 1 ? undefined : 0 };
  return { answers, pauseMs: Math.min(Math.max(...requested), LONGEST_RETRY_AFTER_MS) };
}

/** Messages of one model, in order. */
interface Group {
  readonly messages: readonly RelayMessage[];
  /** Accepted messages at the head. */
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
}

/**
 * Groups the waiting messages of one sink into batches. It holds no message that the receiver did not accept: delivery
 * lets its model wait and publishes it again. A receiver that accepts only some messages of a batch is not down: only
 * the models of the others wait. If it is down, all wait for the same pause, after which one batch tests it.
 */
export class PublishQueue {
  readonly #options: PublishQueueOptions;
  readonly #waiting: Group[] = [];
  #inFlight = 0;
  /** Consecutive pauses for all models. */
  #failures = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Why the receiver did not accept the last batch. */
  #reason = '';
  #filling = false;
  /** Stops waiting for the end of the run in which the receiver went down. */
  #unlisten: (() => void) | undefined;

  constructor(options: PublishQueueOptions) {
    this.#options = options;
  }

  /**
   * Resolves once all messages are accepted. The caller passes messages of one key in one call at a time.
   *
   * @param signal aborted when no more messages must be sent
   * @throws RunInterrupted caused by RetryLater, SinkRejected or SinkGone
   */
  publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const group = { messages, accepted: 0, signal, resolve, reject };
      if (time.nowMs() < this.#pausedUntilMs) return this.#putOff(group);
      this.#waiting.push(group);
      this.#fillSoon();
    });
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
    // After a pause, only one batch is in flight.
    const most = this.#failures > 0 ? 1 : this.#options.limits.inFlight;
    while (this.#inFlight < most) {
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
        interrupt(group, new RetryLater({ message: 'delivery has ended' }));
        used += 1;
        continue;
      }
      // A batch is aborted with its run. Others go on, and have no part in its failure.
      if (batch[0] !== undefined && batch[0].signal !== group.signal) break;
      const { messages } = group;
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
    const messages = batch.flatMap((group) => group.messages);
    const outcomes = await this.#publish(messages, batch[0]?.signal);
    let next = 0;
    const deferred: Deferred[] = [];
    const waiting: Group[] = [];
    for (const group of batch) {
      const outcome = this.#settle(group, outcomes.slice(next, next + group.messages.length));
      next += group.messages.length;
      if (outcome === undefined) continue;
      deferred.push(outcome);
      waiting.push(group);
    }
    this.#inFlight -= 1;
    this.#judge(resultOf(outcomes, deferred), waiting, deferred[0]?.reason);
    this.#fill();
  }

  /** @param waiting the models whose messages were not accepted @param reason why not; undefined: there are none */
  #judge({ answers, pauseMs }: BatchResult, waiting: readonly Group[], reason: string | undefined): void {
    const { counts } = this.#options;
    if (reason !== undefined) {
      counts.deferred += 1;
      this.#reason = reason;
    }
    // A process whose run has ended knows nothing about the receiver any more; an operator may have ended the pause.
    if ((answers && pauseMs === undefined) || waiting.every(({ signal }) => signal.aborted)) this.#answered();
    else if (counts.accepting) {
      counts.accepting = false;
      const [{ signal } = {}] = waiting;
      this.#unlisten = signal && onAbort(signal, () => this.#forgetPause());
    }
    if (pauseMs === undefined) {
      for (const group of waiting) this.#putOff(group);
      return;
    }
    this.#failures += 1;
    const untilMs = time.nowMs() + Math.max(this.#pauseMs(), pauseMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    for (const group of [...waiting, ...this.#waiting.splice(0)]) this.#putOff(group);
  }

  /** Sends one batch. Never rejects. @param ended aborted with the run: another process may then send the same messages */
  async #publish(
    messages: readonly RelayMessage[],
    ended: AbortSignal | undefined,
  ): Promise<readonly PublishOutcome[]> {
    const { sink, limits, name } = this.#options;
    const attributes = {
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': messages.length,
      'fw.sink': name,
    };
    const span = startShared('publish', causesOf(messages), { kind: 'PRODUCER', attributes });
    const abort = new AbortController();
    const unlisten = ended && onAbort(ended, () => abort.abort());
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
    } finally {
      unlisten?.();
    }
  }

  /** Applies the outcomes to a group. Returns the reason why its rest is sent again, if any. */
  #settle(group: Group, outcomes: readonly PublishOutcome[]): Deferred | undefined {
    const { counts } = this.#options;
    for (const outcome of outcomes) {
      if (outcome.kind === 'deferred') return outcome;
      if (outcome.kind !== 'accepted') {
        counts.rejected += 1;
        interrupt(group, new (outcome.kind === 'gone' ? SinkGone : SinkRejected)(outcome.reason));
        return undefined;
      }
      group.accepted += 1;
      counts.accepted += 1;
    }
    group.resolve();
    return undefined;
  }

  #answered(): void {
    this.#unlisten?.();
    this.#failures = 0;
    this.#options.counts.accepting = true;
  }

  #forgetPause(): void {
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
    this.#answered();
  }

  #pauseMs(): number {
    const { limits, random } = this.#options;
    const backoff = { firstMs: limits.retryDelayMs, longestMs: LONGEST_PAUSE_MS, least: 'half' } as const;
    return backoffMs(this.#failures, backoff, random());
  }

  /** Returns a group to delivery, which publishes the rest of it again: after the pause, if there is one. */
  #putOff(group: Group): void {
    const pauseMs = this.#pausedUntilMs - time.nowMs();
    const after = pauseMs > 0 ? { afterMs: Math.ceil(pauseMs) } : {};
    interrupt(group, new RetryLater({ ...after, message: this.#reason }));
  }
}

const MISSING: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'the sink returned no outcome for it',
});

function interrupt(group: Group, cause: Error): void {
  group.reject(new RunInterrupted(group.accepted, cause));
}

function* causesOf(messages: readonly RelayMessage[]): Iterable<Span> {
  for (const { traceContext } of messages) if (traceContext !== undefined) yield remoteSpan(traceContext);
}
