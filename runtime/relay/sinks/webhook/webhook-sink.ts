import { time } from '../../../concurrency/time.js';
import { messageOf } from '../../../errors.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../../relay-sink.js';
import { ABORTED, oneByOne } from '../one-by-one.js';
import { percentEncoded } from '../percent-encoded.js';
import { sign, signingKey } from './signature.js';

/** Options of a webhook sink. */
export interface WebhookOptions {
  /** Absolute, `https:` or `http:`. */
  readonly url: string;
  /** 24 to 64 bytes in base64, with or without the prefix `whsec_`. */
  readonly secret: string;
  /** Time limit of one request, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum concurrent requests. Default 16. */
  readonly concurrency?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_CONCURRENCY = 16;
/** Maximum bytes of an answer that are read so that its connection can be used again. */
const MOST_ANSWER_BYTES = 65_536;
/** Statuses of a receiver that is not ready or misconfigured; they do not concern the message. */
const DEFERRING: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 421, 423, 425, 429]);
/** Statuses of an overloaded receiver. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const GONE = 410;
const DIGITS = /^\d+$/;
const ERROR = 500;
const FAILED: PublishOutcome = Object.freeze({ kind: 'deferred', reason: `the receiver answered ${ERROR}` });
const FAILED_AT_IT: PublishOutcome = Object.freeze({
  kind: 'rejected',
  reason: `the receiver answered ${ERROR}`,
});

/**
 * Posts each message to one URL, signed according to Standard Webhooks.
 * @throws ValidationError for an invalid secret
 */
export function webhookSink(options: WebhookOptions): RelaySink {
  return new WebhookSink(options);
}

class WebhookSink implements RelaySink {
  readonly #url: string;
  readonly #key: Buffer;
  readonly #timeoutMs: number;
  readonly #concurrency: number;

  constructor({
    url,
    secret,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    concurrency = DEFAULT_CONCURRENCY,
  }: WebhookOptions) {
    this.#url = url;
    this.#key = signingKey(secret);
    this.#timeoutMs = timeoutMs;
    this.#concurrency = concurrency;
  }

  async publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    const outcomes = await oneByOne(messages, (message) => this.#post(message, signal), this.#concurrency);
    // A receiver that accepts other messages at the same time is not down: this message is the cause.
    const works = outcomes.some(({ kind }) => kind === 'accepted');
    return works ? outcomes.map((each) => (each === FAILED ? FAILED_AT_IT : each)) : outcomes;
  }

  async close(): Promise<void> {}

  async #post(message: RelayMessage, signal: AbortSignal): Promise<PublishOutcome> {
    if (signal.aborted) return ABORTED;
    const late = new AbortController();
    const timer = time.setTimeout(() => late.abort(), this.#timeoutMs);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        redirect: 'manual',
        headers: this.#headers(message),
        body: message.body,
        signal: AbortSignal.any([signal, late.signal]),
      });
      const outcome = outcomeOf(response);
      await drain(response);
      return outcome;
    } catch (error) {
      if (signal.aborted) return ABORTED;
      const reason = late.signal.aborted ? `no answer within ${this.#timeoutMs} ms` : reasonOf(error);
      return { kind: 'deferred', reason };
    } finally {
      time.clearTimeout(timer);
    }
  }

  #headers({ id, body, contentType, attributes }: RelayMessage): Record<string, string> {
    const timestamp = Math.floor(time.dateMs() / 1_000);
    const cloudEvent = Object.entries(attributes).map(([name, value]) => [
      `ce-${name}`,
      percentEncoded(value),
    ]);
    return {
      ...Object.fromEntries(cloudEvent),
      'content-type': contentType,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(this.#key, { id, timestamp, body }),
    };
  }
}

function outcomeOf({ status, headers }: Response): PublishOutcome {
  if (status >= 200 && status < 300) return ACCEPTED;
  const reason = `the receiver answered ${status}`;
  if (status === GONE) return { kind: 'gone', reason };
  if (status >= 400 && status < 500 && !DEFERRING.has(status)) return { kind: 'rejected', reason };
  const retryAfter = headers.get('retry-after');
  const retryAfterMs = waitOf(retryAfter);
  if (retryAfterMs > 0)
    return { kind: 'deferred', reason: `${reason} with Retry-After: ${retryAfter}`, retryAfterMs };
  if (BUSY.has(status)) return { kind: 'deferred', reason, retryAfterMs };
  return status === ERROR ? FAILED : { kind: 'deferred', reason };
}

/** The wait that `Retry-After` requests, in seconds or as a date; 0 for none. */
function waitOf(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const waitMs = DIGITS.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - time.dateMs();
  return Math.max(0, Number.isFinite(waitMs) ? waitMs : 0);
}

/** Reads an answer to its end. An answer that is too long closes its connection. */
async function drain({ body }: Response): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of body ?? []) {
      bytes += piece.byteLength;
      if (bytes > MOST_ANSWER_BYTES) return;
    }
  } catch {
    // The status has arrived; an error in the rest of the answer does not matter.
  }
}

/** The reason of a failed `fetch` is in its cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error
    ? messageOf(error.cause) || error.cause.name
    : messageOf(error);
}
