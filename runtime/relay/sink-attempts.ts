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
import type { MessageFormat } from './message/message-format.js';
import { toMessage } from './message/message-format.js';
import { LONGEST_PAUSE_MS, type PublishQueue, SinkGone } from './publish-queue.js';
import type { SinkSettings } from './sink-definition.js';

export interface SinkAttemptsOptions {
  readonly queue: PublishQueue;
  readonly format: MessageFormat;
  readonly settings: SinkSettings;
  readonly random: () => number;
}

/** Adapts a sink to delivery. */
export class SinkAttempts implements Attempts {
  readonly longestRun: number;
  readonly #options: SinkAttemptsOptions;

  constructor(options: SinkAttemptsOptions) {
    this.#options = options;
    this.longestRun = options.settings.batchSize;
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
    const { format, queue } = this.#options;
    await queue.publish(
      events.map((event) => toMessage(event, format)),
      signal,
    );
  }

  judge(error: unknown, before: FailureCount): Verdict {
    const { settings, random } = this.#options;
    const { maximumAttempts, retryDelayMs } = settings;
    if (error instanceof SinkGone) return { kind: 'halt' };
    const policy = { maximumAttempts, retryDelayMs, longestDelayMs: LONGEST_PAUSE_MS, random };
    return judgeFailure(error, before, policy, error instanceof RetryLater ? 'receiver' : undefined);
  }
}
