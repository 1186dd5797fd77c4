import { getEventListeners } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { RetryLater } from '../errors.js';
import { RunInterrupted } from '../events/delivery/attempts.js';
import { PublishQueue, resultOf } from './publish-queue.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage } from './relay-sink.js';

const LIMITS = { batchSize: 4, batchBytes: 1_000, inFlight: 2, timeoutMs: 60_000, retryDelayMs: 200 };

let nowMs = 1_000;
beforeEach(() => useTime({ nowMs: () => nowMs }));

interface Call {
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  readonly answer: (outcomes: readonly PublishOutcome[] | Error) => void;
}

/** A queue with a sink whose answers the test controls. */
class ManualQueue {
  readonly calls: Call[] = [];
  readonly counts = { accepted: 0, deferred: 0, rejected: 0, accepting: true };
  /** The run whose messages are published. */
  run = new AbortController();
  readonly #queue: PublishQueue;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    const publish = (
      messages: readonly RelayMessage[],
      signal: AbortSignal,
    ): Promise<readonly PublishOutcome[]> =>
      new Promise((resolve, reject) => {
        const answer: Call['answer'] = (outcomes) =>
          outcomes instanceof Error ? reject(outcomes) : resolve(outcomes);
        this.calls.push({ ids: messages.map(({ id }) => id), signal, answer });
      });
    const sink = { publish, close: async () => {} };
    const { counts } = this;
    this.#queue = new PublishQueue({
      ...{ name: 'Sink test', sink, limits: { ...LIMITS, ...limits }, counts, random: () => 1 },
    });
  }

  /** Publishes a run of messages. Resolves to what came of it: `sent`, or how many were sent and why no more. */
  async publish(ids: string, body = '{}'): Promise<string> {
    const messages = ids.split(' ').map((id) => messageOf(id, body));
    try {
      await this.#queue.publish(messages, this.run.signal);
      return 'sent';
    } catch (error) {
      if (!(error instanceof RunInterrupted && error.cause instanceof Error)) throw error;
      const { cause, handled } = error;
      const pause =
        cause instanceof RetryLater && cause.afterMs !== undefined ? ` in ${cause.afterMs} ms` : '';
      return `${handled}, ${cause.name}${pause}: ${cause.message}`;
    }
  }

  /** Answers a call once the sink has received it. Default: accepts all messages. */
  async answer(call: number, outcomes?: readonly PublishOutcome[] | Error): Promise<void> {
    await expect.poll(() => this.calls.length, { interval: 1 }).toBeGreaterThan(call);
    const { ids = [], answer } = this.calls[call] ?? {};
    answer?.(outcomes ?? ids.map(() => ACCEPTED));
  }
}

function messageOf(id: string, body: string): RelayMessage {
  const common = { modelName: 'Wallet', eventType: 'Created', contentType: 'application/json' };
  return { ...common, id, key: id.charAt(0), attributes: {}, body };
}

const LATER: PublishOutcome = { kind: 'deferred', reason: 'later' };
const BUSY: PublishOutcome = { kind: 'deferred', reason: 'busy', retryAfterMs: 5_000 };
const REFUSED: PublishOutcome = { kind: 'rejected', reason: 'no' };

test('messages are sent together, up to the size of a batch, and up to the limit of concurrent batches', async () => {
  const manual = new ManualQueue();
  const sent = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1', 'i1'].map((id) => manual.publish(id));
  await manual.answer(0);
  expect(manual.calls.map(({ ids }) => ids.length)).toEqual([4, 4]);
  await manual.answer(2);
  await manual.answer(1);
  expect(new Set(await Promise.all(sent))).toEqual(new Set(['sent']));
  expect(manual.counts).toEqual({ accepted: 9, deferred: 0, rejected: 0, accepting: true });
});

test('a batch ends before the message that would make it too large', async () => {
  const manual = new ManualQueue({ batchBytes: 9 });
  // Two bytes, and four bytes of two letters.
  for (const [ids, body] of [
    ['a1 a2', '{}'],
    ['b1', 'ää'],
    ['c1', '{}'],
  ] as const)
    void manual.publish(ids, body);
  await manual.answer(1);
  expect(manual.calls.map(({ ids }) => ids)).toEqual([['a1', 'a2', 'b1'], ['c1']]);
});

test.each([
  ['accepts the first', [ACCEPTED, LATER, LATER], '1, RetryLater: later'],
  ['rejects the second', [ACCEPTED, REFUSED, LATER], '1, SinkRejected: no'],
  ['accepts no more', [{ kind: 'gone', reason: 'closed' }], '0, SinkGone: closed'],
  ['requests a pause', [BUSY, LATER, LATER], '0, RetryLater in 5000 ms: busy'],
  ['returns nothing', undefined, '0, RetryLater: the sink returned no outcome for it'],
  ['returns too few outcomes', [ACCEPTED], '1, RetryLater: the sink returned no outcome for it'],
  ['leaves one out', [ACCEPTED, undefined, ACCEPTED], '1, RetryLater: the sink returned no outcome for it'],
  ['throws', new Error('refused'), '0, RetryLater: refused'],
])('of three messages of a model, a sink that %s gets no later one first', async (_, outcomes, expected) => {
  const manual = new ManualQueue();
  const sent = manual.publish('a1 a2 a3');
  await expect.poll(() => manual.calls.length, { interval: 1 }).toBe(1);
  manual.calls[0]?.answer(outcomes as never);
  expect(await sent).toBe(expected);
});

test('a batch without an answer is published again later', async () => {
  const manual = new ManualQueue({ timeoutMs: 5 });
  expect(await manual.publish('a1')).toBe('0, RetryLater: no answer within 5 ms');
});

test('all models wait for a receiver that is down, and one batch tests it after the pause', async () => {
  const manual = new ManualQueue({ batchSize: 2, inFlight: 1 });
  const sent = ['a1', 'b1', 'c1'].map((id) => manual.publish(id));
  await manual.answer(0, new Error('refused'));
  const paused = '0, RetryLater in 200 ms: refused';
  expect(await Promise.all(sent)).toEqual([paused, paused, paused]);
  expect(await manual.publish('d1')).toBe(paused);
  expect(manual.counts).toMatchObject({ deferred: 1, accepting: false });
  nowMs += 200;
  const again = ['a1', 'b1', 'c1'].map((id) => manual.publish(id));
  await manual.answer(1, new Error('refused'));
  expect(await Promise.all(again)).toEqual(Array(3).fill('0, RetryLater in 400 ms: refused'));
  nowMs += 400;
  const last = ['a1', 'b1', 'c1'].map((id) => manual.publish(id));
  await manual.answer(2);
  await manual.answer(3);
  expect(await Promise.all(last)).toEqual(['sent', 'sent', 'sent']);
  expect(manual.counts).toMatchObject({ deferred: 2, accepting: true });
});

test('after a pause, only one batch is in flight until the receiver answers', async () => {
  const manual = new ManualQueue({ batchSize: 2 });
  const sent = ['a1', 'b1'].map((id) => manual.publish(id));
  await manual.answer(0, new Error('refused'));
  await Promise.all(sent);
  nowMs += 200;
  const again = ['a1', 'b1', 'c1'].map((id) => manual.publish(id));
  await expect.poll(() => manual.calls.length, { interval: 1 }).toBe(2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(manual.calls).toHaveLength(2);
  await manual.answer(1);
  await manual.answer(2);
  expect(await Promise.all(again)).toEqual(['sent', 'sent', 'sent']);
  for (const id of ['d1', 'e1', 'f1']) void manual.publish(id);
  await expect.poll(() => manual.calls.length, { interval: 1 }).toBe(5);
});

test('a model whose message alone is not accepted delays no other one', async () => {
  const manual = new ManualQueue();
  const [stuck, other] = [manual.publish('a1'), manual.publish('b1')];
  await manual.answer(0, [LATER, ACCEPTED]);
  expect(await Promise.all([stuck, other])).toEqual(['0, RetryLater: later', 'sent']);
  const alone = manual.publish('a1');
  await manual.answer(1, [LATER]);
  expect(await alone).toBe('0, RetryLater: later');
  expect(manual.counts.accepting).toBe(false);
  const next = manual.publish('b2');
  await manual.answer(2);
  expect(await next).toBe('sent');
  expect(manual.counts.accepting).toBe(true);
});

test('a receiver that fails again and again leaves no listeners at the signal of the run', async () => {
  const manual = new ManualQueue();
  for (let call = 0; call < 20; call += 2) {
    const alone = manual.publish('a1');
    await manual.answer(call, [LATER]);
    expect(await alone).toBe('0, RetryLater: later');
    const again = manual.publish('a1');
    await manual.answer(call + 1);
    expect(await again).toBe('sent');
  }
  expect(getEventListeners(manual.run.signal, 'abort')).toEqual([]);
});

test('a run that has ended sends nothing, and leaves no receiver behind that counts as down', async () => {
  const manual = new ManualQueue({ batchSize: 1, inFlight: 1 });
  const sent = [manual.publish('a1'), manual.publish('b1')];
  await manual.answer(0, [LATER]);
  await sent[0];
  expect(manual.counts.accepting).toBe(false);
  manual.run.abort();
  expect(manual.counts.accepting).toBe(true);
  await manual.answer(1, [LATER]);
  expect(await sent[1]).toBe('0, RetryLater: later');
  expect(manual.counts.accepting).toBe(true);
  expect(await manual.publish('c1')).toBe('0, RetryLater: delivery has ended');
  expect(manual.calls).toHaveLength(2);
});

test('a sink sends nothing more once the run has ended, because another process may send the same', async () => {
  const manual = new ManualQueue();
  const sent = manual.publish('a1 a2');
  await expect.poll(() => manual.calls.length, { interval: 1 }).toBe(1);
  expect(manual.calls[0]?.signal.aborted).toBe(false);
  manual.run.abort();
  expect(manual.calls[0]?.signal.aborted).toBe(true);
  await manual.answer(0, [ACCEPTED, LATER]);
  expect(await sent).toBe('1, RetryLater: later');
});

test('a batch has messages of one run, because it is aborted with that', async () => {
  const manual = new ManualQueue();
  const sent = [manual.publish('a1'), manual.publish('b1')];
  const first = manual.run;
  manual.run = new AbortController();
  sent.push(manual.publish('c1'));
  await expect
    .poll(() => manual.calls.map(({ ids }) => ids), { interval: 1 })
    .toEqual([['a1', 'b1'], ['c1']]);
  first.abort();
  expect(manual.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  await manual.answer(0, new Error('aborted'));
  await manual.answer(1);
  expect((await Promise.all(sent)).at(-1)).toBe('sent');
  expect(manual.counts.accepting).toBe(true);
});

test.each([
  ['all', [ACCEPTED, ACCEPTED], { answers: true }],
  ['one and rejects the other', [ACCEPTED, REFUSED], { answers: true }],
  ['one and defers the other', [ACCEPTED, LATER], { answers: true }],
  ['none and rejects only one', [REFUSED, LATER], { answers: true }],
  ['none of one model', [LATER], { answers: false }],
  ['none', [LATER, LATER], { answers: false, pauseMs: 0 }],
  ['one and requests a pause', [ACCEPTED, BUSY], { answers: true, pauseMs: 5_000 }],
  [
    'none and requests pauses above an hour',
    [BUSY, { ...BUSY, retryAfterMs: 1e9 }],
    { answers: false, pauseMs: 3_600_000 },
  ],
])('the result of a batch of which the receiver accepts %s', (_, outcomes, expected) => {
  const deferred = outcomes.flatMap((each) => (each.kind === 'deferred' ? [each] : []));
  expect(resultOf(outcomes, deferred)).toEqual({ pauseMs: undefined, ...expected });
});
