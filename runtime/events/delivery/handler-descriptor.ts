import type { EventDescriptor } from '../../domain/descriptor.js';
import type { ModelEvent } from '../../domain/model-event.js';
import type { EventEnvelope } from '../log/event-envelope.js';

/**
 * Reacts to committed events. Each event arrives at least once, in order per model; one instance serves one attempt.
 *
 * @typeParam Event the event class, or a union of several
 */
export interface EventHandler<Event extends ModelEvent<unknown> = ModelEvent<unknown>> {
  /** What it throws is retried with backoff; after the last attempt the event becomes a dead letter. */
  handle(envelope: EventEnvelope<Event>): Promise<void> | void;
}

/** How a handler is run. */
export interface HandlerSettings {
  /** Earlier names, so that a rename keeps its checkpoints. Default none. */
  readonly aliases?: readonly string[];
  /** Models that are worked on at the same time, on each shard. Default 32. Without meaning if `transactional`. */
  readonly concurrency?: number;
  /** Attempts before an event becomes a dead letter, the first one included. Default 5. */
  readonly maximumAttempts?: number;
  /** Longest first pause between attempts in milliseconds, doubled with each one up to 30,000. Default 100. */
  readonly retryDelayMs?: number;
  /** It writes through `envelope.transaction` alone, which also moves its checkpoint: exactly once. Default false. */
  readonly transactional?: boolean;
  /** Where a handler that is new to a shard begins. Default `beginning`. */
  readonly startFrom?: 'beginning' | 'now';
}

/** What the runtime must know about a handler class; emitted by the generator. */
export interface HandlerDescriptor extends HandlerSettings {
  /**
   * Stable name: identity of its checkpoints and of the keys of actions that it starts. 1 to 100 visible ASCII
   * characters.
   */
  readonly name: string;
  /** The events that it gets; at least one. */
  readonly events: readonly EventDescriptor[];
  /**
   * True for an error that passes: such an attempt is repeated for as long as it takes. Default: all attempts count.
   */
  readonly passes?: (error: unknown) => boolean;
  /** Constructor wiring: a new instance for one attempt. */
  readonly create: () => EventHandler<never>;
}
