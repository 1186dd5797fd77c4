/** A message on its way to a receiver, in the form that its sink is set to. */
export interface RelayMessage {
  /** Id of the event: the same each time that the message is sent. */
  readonly id: string;
  /** Id of the model: messages with one key keep their order. */
  readonly key: string;
  /** For topics and subjects. */
  readonly modelName: string;
  readonly eventType: string;
  readonly contentType: string;
  /**
   * CloudEvents attributes that the sink sends as headers, under the prefix of its protocol. Empty unless binary mode.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** Headers that are sent under their own names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** The outcome of one message. */
export type PublishOutcome =
  | { readonly kind: 'accepted' }
  /**
   * It was not taken and may be later: it is sent again, as are those behind it with the same key. With `retryAfterMs`
   * the whole sink pauses, for at least this time. It also pauses if nothing of a batch was taken.
   */
  | { readonly kind: 'deferred'; readonly reason: string; readonly retryAfterMs?: number }
  /** The receiver cannot take this message: it counts as a failed attempt. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The receiver wants no more messages: the sink stops until an operator resumes it. */
  | { readonly kind: 'gone'; readonly reason: string };

/** The receiver has the events. */
export const ACCEPTED: PublishOutcome = Object.freeze({ kind: 'accepted' });

/**
 * Where a relay sends messages. One instance serves one shard of one process; several batches are under way at a time
 * if `inFlight` allows it, never two with the same key.
 */
export interface RelaySink {
  /**
   * Sends messages, in order per key: once a message is not accepted, no later one of its key is sent in this call.
   *
   * @param messages at least one
   * @param signal aborted when the relay no longer waits for the call: nothing may be sent after that
   * @returns one outcome per message, in their order
   * @throws for a receiver that cannot be reached: all messages are sent again
   */
  publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]>;
  /** Closes connections. The sink is not used afterwards. */
  close(): Promise<void>;
}
