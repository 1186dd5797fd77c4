import { expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { RunInterrupted } from '../events/delivery/attempts.js';
import { PublishQueue, resultOf, SinkGone, SinkRejected, SinkUnavailable } from './publish-queue.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from './relay-sink.js';

const LIMITS = { batchSize: 4, batchBytes: 1_000, inFlight: 2, timeoutMs: 60_000, retryDelayMs: 1 };
const never = new AbortController().signal;

interface Call {
  readonly ids: readonly string[];
  readonly answer: (outcomes: readonly PublishOutcome[] | Error) => void;
}

/** A queue with a sink whose answers the test controls. */
function manualQueue(limits: Partial<typeof LIMITS> = {}): {
  queue: PublishQueue;
  calls: Call[];
  warnings: string[];
  counts: { accepted: number; deferred: number; rejected: number; accepting: boolean };
} {
  const calls: Call[] = [];
  const warnings: string[] = [];
  const counts = { accepted: 0, deferred: 0, rejected: 0, accepting: true };
  const sink: RelaySink = {
    publish: (messages) =>
      new Promise((resolve, reject) => {
        const answer = (outcomes: readonly PublishOutcome[] | Error): void =>
          outcomes instanceof Error ? reject(outcomes) : resolve(outcomes);
        calls.push({ ids: messages.map(({ id }) => id), answer });
      }),
    close: async () => {},
  };
  const queue = new PublishQueue({
    name: 'Sink test',
    sink,
    limits: { ...LIMITS, ...limits },
    random: () => 1,
    counts,
    warn: (message) => warnings.push(message),
  });
  return { queue, calls, warnings, counts };
}

function messages(...ids: readonly string[]): readonly RelayMessage[] {
  return ids.map((id) => ({
    id,
    key: id.charAt(0),
    modelName: 'Wallet',
    eventType: 'Created',
    contentType: 'application/json',
    attributes: {},
    headers: {},
    body: '{}',
  }));
}

async function callsOf({ calls }: { readonly calls: readonly Call[] }, count: number): Promise<void> {
  while (calls.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
}

const accept = (count: number): readonly PublishOutcome[] => Array.from({ length: count }, () => ACCEPTED);

test('queued messages are sent together, up to the size of a batch, and up to the limit of concurrent batches', async () => {
  const manual = manualQueue();
  const sent = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1', 'i1'].map((id) =>
    manual.queue.publish(messages(id), never),
  );
  await callsOf(manual, 2);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(manual.calls.map(({ ids }) => ids.length)).toEqual([4, 4]);
  manual.calls[0]?.answer(accept(4));
  await callsOf(manual, 3);
  manual.calls[1]?.answer(accept(4));
  manual.calls[2]?.answer(accept(1));
  await Promise.all(sent);
  expect(manual.counts).toEqual({ accepted: 9, deferred: 0, rejected: 0, accepting: true });
});

test.each([
  ['nothing', undefined],
  ['too few outcomes', []],
  ['an empty place', [undefined, ACCEPTED]],
])('messages are sent again if the sink returns %s', async (_what, wrong) => {
  const manual = manualQueue();
  const sent = [manual.queue.publish(messages('a1'), never), manual.queue.publish(messages('b1'), never)];
  await callsOf(manual, 1);
  manual.calls[0]?.answer(wrong as never);
  await callsOf(manual, 2);
  for (const { ids, answer } of manual.calls.slice(1)) answer(accept(ids.length));
  await Promise.all(sent);
  expect(manual.warnings[0]).toContain('the sink returned no outcome');
});

test('a batch ends before the message that would make it too large', async () => {
  const manual = manualQueue({ batchBytes: 9 });
  // Two bytes, and four bytes of two letters.
  const bodies = ['{}', '{}', 'ää', '{}'];
  for (const [nr, ids] of [['a1', 'a2'], ['b1'], ['c1']].entries())
    void manual.queue.publish(
      messages(...ids).map((each) => ({ ...each, body: bodies[nr + 1] ?? '' })),
      never,
    );
  await callsOf(manual, 2);
  expect(manual.calls.map(({ ids }) => ids)).toEqual([['a1', 'a2', 'b1'], ['c1']]);
});

test('an unreachable receiver gets one batch at a time again until it answers, with two warnings', async () => {
  const manual = manualQueue({ batchSize: 1 });
  const sent = Promise.all(['a1', 'b1'].map((id) => manual.queue.publish(messages(id), never)));
  await callsOf(manual, 2);
  manual.calls[0]?.answer(new Error('refused'));
  manual.calls[1]?.answer(new Error('refused'));
  await callsOf(manual, 3);
  expect(manual.counts.accepting).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(manual.calls).toHaveLength(3);
  manual.calls[2]?.answer(accept(1));
  await callsOf(manual, 4);
  manual.calls[3]?.answer(accept(1));
  await sent;
  expect(manual.warnings).toEqual([
    'Sink test accepts no messages: refused. They will be resent',
    'Sink test accepts messages again',
  ]);
});

test('of a partly accepted run, only the rest is sent again', async () => {
  const manual = manualQueue();
  const sent = manual.queue.publish(messages('a1', 'a2', 'a3'), never);
  await callsOf(manual, 1);
  manual.calls[0]?.answer([
    ACCEPTED,
    { kind: 'deferred', reason: 'busy' },
    { kind: 'deferred', reason: 'busy' },
  ]);
  await callsOf(manual, 2);
  expect(manual.calls[1]?.ids).toEqual(['a2', 'a3']);
  manual.calls[1]?.answer(accept(2));
  await sent;
});

test.each([
  ['rejected', SinkRejected],
  ['gone', SinkGone],
] as const)('a message that is %s ends its run, with what was taken before it', async (kind, failure) => {
  const manual = manualQueue();
  const sent = manual.queue.publish(messages('a1', 'a2'), never);
  await callsOf(manual, 1);
  manual.calls[0]?.answer([ACCEPTED, { kind, reason: 'no' }]);
  const error = await sent.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RunInterrupted);
  expect(error).toMatchObject({ handled: 1, cause: expect.any(failure) });
});

test('a batch without an answer is sent again', async () => {
  const manual = manualQueue({ timeoutMs: 5 });
  const sent = manual.queue.publish(messages('a1'), never);
  await callsOf(manual, 2);
  manual.calls[1]?.answer(accept(1));
  await sent;
  expect(manual.warnings[0]).toContain('no answer within 5 ms');
});

test('messages for an unreachable receiver are given up when delivery ends', async () => {
  const manual = manualQueue({ retryDelayMs: 60_000 });
  const sent = manual.queue.publish(messages('a1'), never).catch((reason: unknown) => reason);
  await callsOf(manual, 1);
  manual.calls[0]?.answer(new Error('refused'));
  while (manual.counts.accepting) await new Promise((resolve) => setTimeout(resolve, 1));
  manual.queue.stop();
  expect(await sent).toMatchObject({ handled: 0, cause: expect.any(SinkUnavailable) });
});

test('a new run does not treat the receiver as down because of an ended run', async () => {
  const manual = manualQueue();
  const ended = new AbortController();
  const sent = manual.queue.publish(messages('a1'), ended.signal).catch((reason: unknown) => reason);
  await callsOf(manual, 1);
  manual.calls[0]?.answer(new Error('refused'));
  while (manual.counts.accepting) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(manual.queue.obstacle).toBe('the receiver accepts no messages: refused');
  ended.abort();
  while (!manual.counts.accepting) {
    const again = manual.calls.at(-1);
    again?.answer(new Error('refused'));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(manual.queue.obstacle).toBeUndefined();
  expect(await sent).toMatchObject({ cause: expect.any(SinkUnavailable) });
});

test('nothing is sent for a run that has ended', async () => {
  const manual = manualQueue();
  const ended = new AbortController();
  const sent = manual.queue.publish(messages('a1'), ended.signal).catch((reason: unknown) => reason);
  ended.abort();
  expect(await sent).toMatchObject({ cause: expect.any(SinkUnavailable) });
  expect(manual.calls).toEqual([]);
});

const busy: PublishOutcome = { kind: 'deferred', reason: 'busy' };

test('a message that alone is not accepted delays no other model, and one warning reports it', async () => {
  const manual = manualQueue({ batchSize: 2, inFlight: 1 });
  const stuck = manual.queue.publish(messages('a1'), never);
  const others = ['b1', 'c1', 'd1'].map((id) => manual.queue.publish(messages(id), never));
  await callsOf(manual, 1);
  manual.calls[0]?.answer([busy, ACCEPTED]);
  const settled = Promise.all([stuck, ...others]).then(() => 'settled');
  for (let call = 1; call < 10; call += 1) {
    await Promise.race([callsOf(manual, call + 1), settled]);
    const { ids = [], answer } = manual.calls[call] ?? {};
    answer?.(accept(ids.length));
  }
  await settled;
  expect(manual.warnings).toEqual(['Sink test does not accept some messages: busy. They will be resent']);
  expect(manual.counts).toMatchObject({ accepted: 4, accepting: true });
});

test('a model that waits alone is given up when delivery ends', async () => {
  const manual = manualQueue({ retryDelayMs: 60_000 });
  const stuck = manual.queue.publish(messages('a1'), never).catch((reason: unknown) => reason);
  const other = manual.queue.publish(messages('b1'), never);
  await callsOf(manual, 1);
  manual.calls[0]?.answer([busy, ACCEPTED]);
  await other;
  expect(manual.counts.accepting).toBe(true);
  expect(manual.queue.obstacle).toBe('the receiver does not accept some messages: busy');
  manual.queue.stop();
  expect(manual.queue.obstacle).toBeUndefined();
  expect(await stuck).toMatchObject({ handled: 0, cause: expect.any(SinkUnavailable) });
});

test('a receiver that requests a pause gets it, even if it has accepted other messages', async () => {
  const pauses: number[] = [];
  let nowMs = 1_000;
  const restore = useTime({
    nowMs: () => nowMs,
    setTimeout: (work, milliseconds) => {
      if (milliseconds < 60_000) return setTimeout(work, milliseconds);
      pauses.push(milliseconds);
      nowMs += milliseconds;
      return setTimeout(work, 0);
    },
  });
  try {
    const manual = manualQueue({ timeoutMs: 50_000 });
    const sent = ['a1', 'b1'].map((id) => manual.queue.publish(messages(id), never));
    await callsOf(manual, 1);
    manual.calls[0]?.answer([{ ...busy, retryAfterMs: 120_000 }, ACCEPTED]);
    await callsOf(manual, 2);
    manual.calls[1]?.answer([{ ...busy, retryAfterMs: 1e9 }]);
    await callsOf(manual, 3);
    manual.calls[2]?.answer([ACCEPTED]);
    await Promise.all(sent);
    expect(pauses.map((pause) => Math.round(pause / 10_000))).toEqual([12, 360]);
  } finally {
    restore();
  }
});

test('while only one model is not accepted, others are tried at once', async () => {
  const manual = manualQueue({ retryDelayMs: 60_000 });
  const stuck = manual.queue.publish(messages('a1'), never);
  await callsOf(manual, 1);
  manual.calls[0]?.answer([busy]);
  while (manual.counts.accepting) await new Promise((resolve) => setTimeout(resolve, 1));
  const other = manual.queue.publish(messages('b1'), never);
  await callsOf(manual, 2);
  expect(manual.calls[1]?.ids).toEqual(['a1', 'b1']);
  manual.calls[1]?.answer([ACCEPTED, ACCEPTED]);
  await Promise.all([stuck, other]);
});

const LATER = { kind: 'deferred', reason: 'later' } as const;
const BUSY = { kind: 'deferred', reason: 'busy', retryAfterMs: 5 } as const;
const REFUSED = { kind: 'rejected', reason: 'no' } as const;

test.each([
  ['all', [ACCEPTED, ACCEPTED], { kind: 'done' }],
  ['one and rejects the other', [ACCEPTED, REFUSED], { kind: 'done' }],
  ['one and defers the other', [ACCEPTED, LATER], { kind: 'partly', reason: 'later' }],
  ['none and rejects only one', [REFUSED, LATER], { kind: 'partly', reason: 'later' }],
  ['none', [LATER, LATER], { kind: 'back off', reason: 'later', retryAfterMs: undefined }],
  ['one and requests a pause', [ACCEPTED, BUSY], { kind: 'back off', reason: 'busy', retryAfterMs: 5 }],
  [
    'none and requests several pauses, one of which is longer than an hour',
    [BUSY, { ...BUSY, retryAfterMs: 1e9 }],
    { kind: 'back off', reason: 'busy', retryAfterMs: 3_600_000 },
  ],
] as const)('the result of a batch of which the receiver accepts %s', (_, outcomes, expected) => {
  const deferred = outcomes.flatMap((each) => (each.kind === 'deferred' ? [each] : []));
  expect(resultOf(outcomes, deferred)).toEqual(expected);
});
