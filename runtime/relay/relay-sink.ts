/** A message for a receiver, in the format of its sink. */
export interface RelayMessage {
  /** Id of the event, the same each time the message is sent. */
  readonly id: string;
  /** Id of the model: messages with one key keep their order. */
  readonly key: string;
  /** Used in topics and subjects. */
  readonly modelName: string;
  readonly eventType: string;
  readonly contentType: string;
  /**
   * CloudEvents attributes that the sink sends as headers, with the prefix of its protocol. Empty except in binary
   * mode.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  /** W3C `traceparent` of the action, in every format. Default: the action was not traced. */
  readonly traceContext?: string | undefined;
}

/** The outcome of one message. */
export type PublishOutcome =
  | { readonly kind: 'accepted' }
  /**
   * The message was not accepted but may be later: it is sent again, as are those after it with the same key. With
   * `retryAfterMs` the whole sink pauses for at least this time. The sink also pauses if no message of a batch was
   * accepted.
   */
  | { readonly kind: 'deferred'; readonly reason: string; readonly retryAfterMs?: number }
  /** The receiver cannot process this message: it counts as a failed attempt. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The receiver accepts no more messages: the sink stops until an operator resumes it. */
  | { readonly kind: 'gone'; readonly reason: string };

/** The receiver has stored the event. */
export const ACCEPTED: PublishOutcome = Object.freeze({ kind: 'accepted' });

/**
 * A target of the relay. One instance serves one shard of one process. With `inFlight` above 1, several batches are in
 * flight, never two with the same key.
 */
export interface RelaySink {
  /**
   * Sends messages, in order per key: once a message is not accepted, no later one of its key is sent in this call.
   *
   * @param messages at least one
   * @param signal aborted when the relay no longer waits for the call: no message may be sent after that
   * @returns one outcome per message, in their order
   * @throws for an unreachable receiver: all messages are sent again
   */
  publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]>;
  /** Closes connections. The sink is not used afterwards. */
  close(): Promise<void>;
}
