import { SILENT, withFacts } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { RetryLater } from '../errors.js';
import {
  type Attempts,
  type FailureCount,
  RunInterrupted,
  type Verdict,
} from '../events/delivery/attempts.js';
import { judgeFailure } from '../events/delivery/handler-attempts.js';
import type { Attempt, RunContext } from '../events/log/event-envelope.js';
import type { LoggedEvent } from '../events/log/event-record.js';
import { type MessageFormat, toMessage } from './message/message-format.js';
import { LONGEST_PAUSE_MS, type PublishCounts, PublishQueue, SinkGone } from './publish-queue.js';
import type { RelaySink } from './relay-sink.js';
import type { RelayContext, SinkDefinition, SinkSettings } from './sink-definition.js';

/** Maximum bytes of one batch. By default, brokers refuse requests above 1 MiB. */
const BATCH_BYTES = 800_000;

/** An open sink of one shard, as delivery uses it. */
export class ShardSink implements Attempts {
  readonly longestRun: number;
  readonly counts: PublishCounts = { accepted: 0, deferred: 0, rejected: 0, accepting: true };
  readonly #settings: SinkSettings;
  readonly #format: MessageFormat;
  readonly #random: () => number;
  readonly #sink: RelaySink;
  readonly #queue: PublishQueue;

  constructor(
    settings: SinkSettings & SinkDefinition,
    shard: ShardIdentifier,
    { schemaBaseUrl, random = Math.random, log = SILENT }: RelayContext,
  ) {
    const { name, open, format, batchSize } = settings;
    this.longestRun = batchSize;
    this.#settings = settings;
    this.#format = { shape: format, shard, schemaBaseUrl };
    this.#random = random;
    this.#sink = open(shard, withFacts(log, { sink: name, shard: shard.toString() }));
    const limits = { ...settings, batchBytes: BATCH_BYTES };
    const title = `Sink ${name} of shard ${shard}`;
    this.#queue = new PublishQueue({ name: title, sink: this.#sink, limits, random, counts: this.counts });
  }

  /** Never rejects. */
  async close(): Promise<void> {
    try {
      await this.#sink.close();
    } catch {
      // Its connections end with the process.
    }
  }

  /** Events are sent as stored, even those of versions that this process does not know. */
  isTooNew(): boolean {
    return false;
  }

  async handle(event: LoggedEvent, _attempt: Attempt, context: RunContext): Promise<void> {
    try {
      await this.handleRun([event], context);
    } catch (error) {
      throw error instanceof RunInterrupted ? error.cause : error;
    }
  }

  async handleRun(events: readonly LoggedEvent[], { signal }: RunContext): Promise<void> {
    const messages = events.map((event) => toMessage(event, this.#format));
    await this.#queue.publish(messages, signal);
  }

  judge(error: unknown, before: FailureCount): Verdict {
    const { maximumAttempts, retryDelayMs } = this.#settings;
    if (error instanceof SinkGone) return { kind: 'halt' };
    const policy = { maximumAttempts, retryDelayMs, longestDelayMs: LONGEST_PAUSE_MS, random: this.#random };
    return judgeFailure(error, before, policy, error instanceof RetryLater ? 'receiver' : undefined);
  }
}
