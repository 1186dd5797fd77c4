import { AssertionError, deepStrictEqual, strictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/at-most.js';
import { sleep, time } from '../../concurrency/time.js';
import type { PublishOutcome, RelayMessage, RelaySink } from '../relay-sink.js';
import type { ReceivedMessage, TestedSink } from './tested-sink.js';

/** Messages of one key, in order. */
export interface SentKey {
  readonly key: string;
  readonly messages: readonly RelayMessage[];
}

/** Maximum wait for an effect of a receiver or a call, in milliseconds. */
const PATIENCE_MS = 30_000;
/**
 * Time after which the relay gives up a call, in milliseconds. A sink may take this long to notice an unreachable
 * receiver.
 */
const CALL_MS = 10_000;
const PAUSE_MS = 50;
/** Characters that protocols escape in bodies and headers. */
const TEXT = 'Größe "5" 100 % 😀';

/** Messages of a new key. */
export function sentKey(count: number, text: string = TEXT): SentKey {
  const key = randomUUID();
  const messages = Array.from({ length: count }, (_, index) => messageOf(key, index + 1, text));
  return { key, messages };
}

function messageOf(key: string, number: number, text: string): RelayMessage {
  const id = randomUUID();
  const attributes = {
    specversion: '1.0',
    id,
    source: '/conformance/shards/0-0',
    type: 'conformance.Sent',
    subject: key,
    sequence: String(number).padStart(19, '0'),
    note: TEXT,
  };
  const names = { modelName: 'Conformance', eventType: 'Sent', contentType: 'application/json' };
  return { id, key, ...names, attributes, body: JSON.stringify({ id, number, text }) };
}

/** One case of the conformance suite: opens sinks, sends as the relay does and checks the receiver's messages. */
export class SinkTrial {
  readonly #tested: TestedSink;
  readonly #opened: RelaySink[] = [];

  private constructor(tested: TestedSink) {
    this.#tested = tested;
  }

  static async run(tested: TestedSink, work: (trial: SinkTrial) => Promise<void>): Promise<void> {
    const trial = new SinkTrial(tested);
    try {
      await work(trial);
    } finally {
      await Promise.all(trial.#opened.map((sink) => trial.settles(sink.close(), 'close()')));
    }
  }

  open(): RelaySink {
    const sink = this.#tested.open();
    this.#opened.push(sink);
    return sink;
  }

  /** The outcomes of one call. An error defers all messages. */
  async attempt(
    sink: RelaySink,
    messages: readonly RelayMessage[],
    signal?: AbortSignal,
  ): Promise<readonly PublishOutcome[]> {
    const late = new AbortController();
    const timer = time.setTimeout(() => late.abort(), CALL_MS);
    const aborted = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      const call = sink
        .publish(messages, aborted)
        .catch((error: unknown): readonly PublishOutcome[] =>
          messages.map(() => ({ kind: 'deferred', reason: String(error) })),
        );
      const outcomes = await this.settles(call, 'publish()');
      strictEqual(outcomes.length, messages.length, 'publish() gives one outcome for each message');
      checkOrder(messages, outcomes);
      return outcomes;
    } finally {
      time.clearTimeout(timer);
    }
  }

  /** Sends messages again until all are accepted. @throws AssertionError if one is rejected */
  async accepts(sink: RelaySink, messages: readonly RelayMessage[]): Promise<void> {
    const giveUpAt = time.nowMs() + PATIENCE_MS;
    let left = messages;
    while (left.length > 0) {
      const outcomes = await this.attempt(sink, left);
      const isFinal = outcomes.some(({ kind }) => kind === 'rejected' || kind === 'gone');
      left = left.filter((_, index) => outcomes[index]?.kind !== 'accepted');
      if (left.length === 0) return;
      if (isFinal || time.nowMs() > giveUpAt)
        throw failed(`Expected all messages to be accepted, got ${this.show(outcomes)}`);
      await sleep(PAUSE_MS);
    }
  }

  /** Waits until the receiver holds all messages of these keys, and compares them and their order. */
  async arrives(...keys: readonly SentKey[]): Promise<void> {
    const giveUpAt = time.nowMs() + PATIENCE_MS;
    for (;;) {
      const received = await this.#tested.received();
      const ids = new Set(received.map(({ id }) => id));
      const missing = keys.flatMap(({ messages }) => messages.filter(({ id }) => !ids.has(id)));
      if (missing.length === 0) {
        for (const key of keys) compare(key, received);
        return;
      }
      if (time.nowMs() > giveUpAt) throw failed(`${missing.length} accepted messages have not arrived`);
      await sleep(PAUSE_MS);
    }
  }

  /** The ids of a key's messages that the receiver holds now. */
  async idsOf({ messages }: SentKey): Promise<readonly string[]> {
    const sent = new Set(messages.map(({ id }) => id));
    const received = await this.#tested.received();
    return received.flatMap(({ id }) => (sent.has(id) ? [id] : []));
  }

  /** @throws AssertionError if a call takes too long */
  async settles<T>(call: Promise<T>, subject: string): Promise<T> {
    return await within(call, PATIENCE_MS, () => {
      throw failed(`${subject} has not settled within ${PATIENCE_MS / 1_000} s`);
    });
  }

  show(outcomes: readonly PublishOutcome[]): string {
    const texts = outcomes.map((each) => ('reason' in each ? `${each.kind}: ${each.reason}` : each.kind));
    return [...new Set(texts)].join('; ');
  }
}

/** No message of a key may be accepted after one that was not. */
function checkOrder(messages: readonly RelayMessage[], outcomes: readonly PublishOutcome[]): void {
  const stopped = new Set<string>();
  for (const [index, { key }] of messages.entries()) {
    if (outcomes[index]?.kind !== 'accepted') stopped.add(key);
    else if (stopped.has(key)) throw failed('A message was accepted behind one of its key that was not');
  }
}

/** Only the first arrival of each message is compared, because a repetition may arrive at any time. */
function compare({ key, messages }: SentKey, received: readonly ReceivedMessage[]): void {
  const sent = new Map(messages.map((message) => [message.id, message]));
  const arrived: string[] = [];
  for (const message of received) {
    const original = sent.get(message.id);
    if (original === undefined) continue;
    if (!arrived.includes(message.id)) arrived.push(message.id);
    strictEqual(message.body, original.body, 'The body has changed');
    if (message.key !== undefined) strictEqual(message.key, key, 'The key has changed');
    if (message.attributes !== undefined)
      deepStrictEqual({ ...message.attributes }, original.attributes, 'Attributes have changed');
  }
  deepStrictEqual(arrived, [...sent.keys()], 'The messages of a key arrived in another order');
}

function failed(message: string): AssertionError {
  return new AssertionError({ message });
}
