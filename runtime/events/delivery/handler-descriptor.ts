import type { HandlerSettings } from '../../action/markers.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import type { ModelEvent } from '../../domain/model-event.js';
import type { EventEnvelope } from '../log/event-envelope.js';

/**
 * Reacts to committed events. Each event is delivered at least once, in order per model. One instance serves one
 * attempt.
 *
 * @typeParam Event the event class, or a union of several
 */
export interface EventHandler<Event extends ModelEvent<unknown> = ModelEvent<unknown>> {
  /**
   * Handles one event. Delivery retries an error with backoff; after the last attempt the event becomes a dead letter.
   * After `RetryLater` it is attempted again without a limit.
   */
  handle(envelope: EventEnvelope<Event>): Promise<void> | void;
  /**
   * True for an error that means that the receiver is down: it has the effect of `RetryLater`. Called on an instance of
   * its own. Default: none does.
   */
  isTransient?(error: unknown): boolean;
}

/** A handler class as the runtime uses it; emitted by the generator. */
export interface HandlerDescriptor extends HandlerSettings {
  /** Stable name: identifies its checkpoints and the keys of its actions. 1 to 100 visible ASCII characters. */
  readonly name: string;
  /** The events that the handler receives; at least one. */
  readonly events: readonly EventDescriptor[];
  /** True for a passing error: such an attempt is retried without a limit. Default: all attempts count. */
  readonly passes?: (error: unknown) => boolean;
  /** Creates a new instance for one attempt. */
  readonly create: () => EventHandler<never>;
}
