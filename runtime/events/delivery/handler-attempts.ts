import { backoffMs } from '../../concurrency/backoff.js';
import { LogLimiter } from '../../concurrency/log-limiter.js';
import { errorFacts, type Logger } from '../../domain/logger.js';
import { CommitOutcomeUnknownError, messageOf, RetryLater, ShardUnavailableError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { DriverFailure, type FailureReason } from '../../sharding/driver-failure.js';
import { during, isTracing, startCaused } from '../../tracing.js';
import { type Attempt, Envelope, type EnvelopeServices, type RunContext } from '../log/event-envelope.js';
import type { LoggedEvent } from '../log/event-record.js';
import { EventTypes } from '../log/event-types.js';
import type { Attempts, FailureCount, Verdict } from './attempts.js';
import type { HandlerDescriptor } from './handler-descriptor.js';
import type { HandlingFailure } from './parking-store.js';

export const DEFAULT_CONCURRENCY = 32;
/** Together with the pauses they take 11 minutes or more: a receiver may be down for ten. */
const DEFAULT_MAXIMUM_ATTEMPTS = 16;
/** A transactional handler has no receiver but the database, and holds up all models while it waits. */
const TRANSACTIONAL_MAXIMUM_ATTEMPTS = 5;
const DEFAULT_RETRY_DELAY_MS = 100;
const LONGEST_RETRY_DELAY_MS = 300_000;
/** Maximum pause after a failure that does not count, in milliseconds: the unreachable shard may return at any time. */
const LONGEST_PASSING_DELAY_MS = 5_000;
const DEEPEST_CAUSE = 5;

/** Adapts a handler to delivery: makes attempts, and defines their maximum number and pauses. */
export class HandlerAttempts implements Attempts {
  readonly #types: EventTypes;
  readonly #policy: RetryPolicy;
  readonly #handler: HandlerDescriptor;
  readonly #services: EnvelopeServices;
  readonly #log: LogLimiter | undefined;

  constructor(handler: HandlerDescriptor, executor: ActionRunner, random: () => number, log?: Logger) {
    this.#handler = handler;
    this.#services = { executor, log };
    this.#log = log && new LogLimiter(log);
    this.#types = new EventTypes(handler.events);
    const most = handler.transactional === true ? TRANSACTIONAL_MAXIMUM_ATTEMPTS : DEFAULT_MAXIMUM_ATTEMPTS;
    const { maximumAttempts = most, retryDelayMs = DEFAULT_RETRY_DELAY_MS } = handler;
    this.#policy = { maximumAttempts, retryDelayMs, random };
  }

  isTooNew(event: LoggedEvent): boolean {
    return this.#types.isTooNew(event);
  }

  /** Makes one attempt with a new instance. Returns a promise only if the handler does. */
  handle(logged: LoggedEvent, attempt: Attempt, context: RunContext): Promise<void> | void {
    const event = this.#types.revive(logged);
    const envelope = new Envelope(logged, event, attempt, context, this.#services);
    // The registry binds a handler to its event classes: `revive` makes instances of those and of no others.
    const { name } = this.#handler;
    if (!isTracing()) return this.#handler.create().handle(envelope as never);
    const span = startCaused(`handle ${name}`, {
      kind: 'CONSUMER',
      traceContext: envelope.traceContext,
      attributes: {
        'messaging.system': 'fw_outbox',
        'messaging.operation.name': 'handle',
        'messaging.operation.type': 'process',
        'messaging.destination.name': logged.eventType,
        'messaging.consumer.group.name': name,
        'messaging.message.id': logged.id,
        'fw.attempt': attempt.number,
      },
    });
    return during(span, () => this.#handler.create().handle(envelope as never));
  }

  /**
   * A failure does not count as an attempt if a shard is unreachable, the receiver is down, or the handler's `passes`
   * accepts the error.
   */
  judge(error: unknown, before: FailureCount): Verdict {
    if (this.#isReceiverDown(error)) return judgeFailure(error, before, this.#policy, 'receiver');
    const isElsewhere = isOutOfReach(error) || this.#handler.passes?.(error) === true;
    return judgeFailure(error, before, this.#policy, isElsewhere ? 'elsewhere' : undefined);
  }

  /** Logs a failed attempt: at most one a second, because an error of a release fails all events. */
  retrying(eventId: string, attempt: number, error: unknown): void {
    const message = `${this.#handler.name} cannot handle event ${eventId}; it is attempted again`;
    this.#log?.write('retrying', () => ({ level: 'warn', message, eventId, attempt, ...errorFacts(error) }));
  }

  #isReceiverDown(error: unknown): boolean {
    if (error instanceof RetryLater) return true;
    try {
      return this.#handler.create().isTransient?.(error) === true;
    } catch {
      return false;
    }
  }
}

export interface RetryPolicy {
  readonly maximumAttempts: number;
  /** First pause, in milliseconds. */
  readonly retryDelayMs: number;
  /** Maximum pause, in milliseconds. Default 300,000. */
  readonly longestDelayMs?: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * What becomes of an event or a scheduled action after a failure. Pauses grow exponentially, half of them random, so
 * that what failed together is not retried together.
 *
 * @param passing why the failure does not count. Undefined: it counts
 */
export function judgeFailure(
  error: unknown,
  { attempts, passed }: FailureCount,
  { maximumAttempts, retryDelayMs: firstMs, longestDelayMs = LONGEST_RETRY_DELAY_MS, random }: RetryPolicy,
  passing: 'receiver' | 'elsewhere' | undefined,
): Verdict {
  const pauseMs = (failures: number, longestMs = longestDelayMs): number =>
    backoffMs(failures, { firstMs, longestMs, least: 'half' }, random());
  if (passing === 'receiver') {
    const afterMs = error instanceof RetryLater ? error.afterMs : undefined;
    return { kind: 'pass', pauseMs: afterMs ?? pauseMs(passed + 1), cause: passing };
  }
  if (passing === 'elsewhere')
    return { kind: 'pass', pauseMs: pauseMs(passed + 1, LONGEST_PASSING_DELAY_MS), cause: passing };
  if (attempts + 1 >= maximumAttempts) return { kind: 'park' };
  return { kind: 'retry', pauseMs: pauseMs(attempts + 1) };
}

/**
 * Failures without an answer of the database. A statement that the server refused or cancelled has an SQLSTATE instead.
 */
const NO_ANSWER: ReadonlySet<FailureReason | undefined> = new Set<FailureReason | undefined>([
  'unreachable',
  'deadline',
  'pool-exhausted',
]);

/**
 * True if a shard could not be reached, did not answer in time, or did not report the outcome of a commit. Checks
 * causes too. Sagas classify failures with the same function.
 */
export function isOutOfReach(error: unknown): boolean {
  let each = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && each instanceof Error; depth += 1) {
    if (each instanceof ShardUnavailableError || each instanceof CommitOutcomeUnknownError) return true;
    if (each instanceof DriverFailure && each.sqlState === undefined && NO_ANSWER.has(each.reason))
      return true;
    each = each.cause;
  }
  return false;
}

/** The stored facts of an error. */
export function failureOf(error: unknown, attempts: number): HandlingFailure {
  if (!(error instanceof Error)) return { attempts, code: 'UNKNOWN', message: messageOf(error), stack: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { attempts, code, message: error.message, stack: error.stack ?? '' };
}
