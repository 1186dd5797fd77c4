import { expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../relay/relay-sink.js';
import { sinkConformance } from './sink-conformance.js';
import type { TestedSink } from './tested-sink.js';

const DEFERRED: PublishOutcome = { kind: 'deferred', reason: 'busy' };
const UNACCEPTABLE = 'unacceptable';
const HANDS_OVER = 'delivers id, key, attributes and body of each message unchanged';
const KEEPS_ORDER = 'keeps the order of each key within a batch and from batch to batch';
const TAKES_SEVERAL = 'takes several batches at a time and loses none';
const STOPS_AT_ABORT = 'sends nothing after the relay has stopped waiting';
const CLOSES = 'can be closed before it has sent anything, and a second time';
const REJECTS = 'rejects what the receiver cannot accept, and sends nothing of its key after it';
const WAITS = 'waits for a receiver that is out of reach, and then sends in order';

/** The steps of a correct sink, each of which a test can replace. */
interface Steps {
  readonly isAway: boolean;
  readonly signal: AbortSignal;
  readonly store: (message: RelayMessage) => void;
}

type Publish = (messages: readonly RelayMessage[], steps: Steps) => Promise<readonly PublishOutcome[]>;

/** Accepts no message of a key after one that was not accepted. */
const sound: Publish = async (messages, { isAway, signal, store }) => {
  await new Promise((resolve) => setImmediate(resolve));
  if (isAway || signal.aborted) throw new Error('connection refused');
  const stopped = new Set<string>();
  return messages.map((message) => {
    if (stopped.has(message.key)) return DEFERRED;
    if (message.body === UNACCEPTABLE) {
      stopped.add(message.key);
      return { kind: 'rejected', reason: 'too large' };
    }
    store(message);
    return ACCEPTED;
  });
};

function memorySink(publish: Publish, close: () => Promise<void> = async () => {}): TestedSink {
  const received: RelayMessage[] = [];
  let isAway = false;
  const sink: RelaySink = {
    publish: (messages, signal) =>
      publish(messages, { isAway, signal, store: (message) => received.push(message) }),
    close,
  };
  return {
    open: () => sink,
    received: () => received,
    unacceptable: (message) => ({ ...message, body: UNACCEPTABLE }),
    outage: {
      begin: async () => {
        isAway = true;
      },
      end: async () => {
        isAway = false;
      },
    },
  };
}

async function failingCases(tested: TestedSink): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { name, run } of sinkConformance(tested)) {
    try {
      await run();
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_ASSERTION' });
      failed.push(name);
    }
  }
  return failed;
}

/** The names of the failing cases. Waits of half a minute are shortened. */
async function failuresOf(tested: TestedSink): Promise<readonly string[]> {
  const restore = useTime({
    nowMs: () => performance.now() * 500,
    setTimeout: (work, milliseconds) => setTimeout(work, milliseconds / 500),
  });
  try {
    return await failingCases(tested);
  } finally {
    restore();
  }
}

test('a correct sink passes every case', async () => {
  expect(await failingCases(memorySink(sound))).toEqual([]);
});

/** Simulates a client that numbers batches when it receives them, and a broker that drops a repeated number. */
function droppingOverlaps(): Publish {
  let underWay = 0;
  return async (messages, steps) => {
    underWay += 1;
    const isDropped = underWay > 1;
    const outcomes = await sound(messages, isDropped ? { ...steps, store: () => {} } : steps);
    underWay -= 1;
    return outcomes;
  };
}

const defects: readonly [string, Publish, readonly string[]][] = [
  [
    'changes bodies',
    (messages, steps) =>
      sound(messages, {
        ...steps,
        store: (message) => steps.store({ ...message, body: `${message.body} ` }),
      }),
    [HANDS_OVER],
  ],
  [
    'changes keys',
    (messages, steps) =>
      sound(messages, { ...steps, store: (message) => steps.store({ ...message, key: 'one' }) }),
    [HANDS_OVER],
  ],
  [
    'sends the messages of a batch in any order',
    async (messages, steps) => [...(await sound([...messages].reverse(), steps))].reverse(),
    [KEEPS_ORDER],
  ],
  ['drops batches that overlap', droppingOverlaps(), [TAKES_SEVERAL]],
  [
    'gives too few outcomes',
    async (messages, steps) => (await sound(messages, steps)).slice(1),
    [HANDS_OVER],
  ],
  [
    'sends in spite of the signal',
    (messages, steps) => sound(messages, { ...steps, signal: new AbortController().signal }),
    [STOPS_AT_ABORT],
  ],
  [
    'accepts what the receiver cannot accept',
    async (messages, steps) => (await sound(messages, steps)).map(() => ACCEPTED),
    [REJECTS],
  ],
  [
    'accepts behind a rejected message',
    async (messages, steps) =>
      (await sound(messages, steps)).map((each) => (each.kind === 'rejected' ? each : ACCEPTED)),
    [REJECTS],
  ],
  [
    'rejects while the receiver is out of reach',
    async (messages, steps) =>
      steps.isAway ? messages.map(() => ({ kind: 'rejected', reason: 'down' })) : sound(messages, steps),
    [WAITS],
  ],
  [
    'accepts while the receiver is out of reach',
    async (messages, steps) => (steps.isAway ? messages.map(() => ACCEPTED) : sound(messages, steps)),
    [WAITS],
  ],
];

test.each(defects)('a sink that %s fails', async (_, publish, expected) => {
  expect(await failuresOf(memorySink(publish))).toEqual(expect.arrayContaining([...expected]));
});

test('a sink that does not close fails', async () => {
  const tested = memorySink(sound, () => new Promise(() => {}));
  expect(await failuresOf(tested)).toContain(CLOSES);
});

test('a receiver that accepts everything and is always available has fewer cases', () => {
  const { open, received } = memorySink(sound);
  const names = sinkConformance({ open, received }).map(({ name }) => name);
  expect(names).not.toContain(REJECTS);
  expect(names).not.toContain(WAITS);
  expect(names).toContain(HANDS_OVER);
});
