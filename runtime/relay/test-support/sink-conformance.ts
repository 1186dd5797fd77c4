import { deepStrictEqual, notStrictEqual } from 'node:assert/strict';
import type { PublishOutcome, RelayMessage } from '../relay-sink.js';
import { type SentKey, SinkTrial, sentKey } from './sink-trial.js';
import type { Outage, TestedSink } from './tested-sink.js';

/** One test case of a sink, for `test(name, run)` of vitest and node:test. */
export interface SinkCase {
  readonly name: string;
  /** @throws AssertionError if the sink fails the case */
  readonly run: () => Promise<void>;
}

const LARGE_TEXT = 'x'.repeat(1_400);

/**
 * Test cases for the behaviour that the relay requires of a sink. Run them one after the other. Each waits at most 30 s
 * for an effect, so give the test runner a longer limit.
 */
export function sinkConformance(tested: TestedSink): readonly SinkCase[] {
  const { unacceptable, outage } = tested;
  const cases: [string, (trial: SinkTrial) => Promise<void>][] = [
    ['delivers id, key, attributes and body of each message unchanged', handsOver],
    ['keeps the order of each key within a batch and from batch to batch', keepsOrder],
    ['takes several batches at a time and loses none', takesSeveral],
    ['accepts a batch of 500 messages and 700 kB', acceptsLarge],
    ['accepts messages that were sent before', acceptsRepetitions],
    ['sends nothing after the relay has stopped waiting', stopsAtAbort],
    ['can be closed before it has sent anything, and a second time', closes],
  ];
  if (unacceptable !== undefined) {
    cases.push([
      'rejects what the receiver cannot accept, and sends nothing of its key after it',
      (trial) => rejects(trial, unacceptable),
    ]);
  }
  if (outage !== undefined) {
    cases.push([
      'waits for a receiver that is out of reach, and then sends in order',
      (trial) => waitsFor(trial, outage),
    ]);
  }
  return cases.map(([name, run]) => ({ name, run: () => SinkTrial.run(tested, run) }));
}

async function handsOver(trial: SinkTrial): Promise<void> {
  const key = sentKey(5);
  await trial.accepts(trial.open(), key.messages);
  await trial.arrives(key);
}

async function keepsOrder(trial: SinkTrial): Promise<void> {
  const sink = trial.open();
  const keys = sentKeys(7, 30);
  for (const from of [0, 10, 20]) await trial.accepts(sink, inTurn(keys, from, from + 10));
  await trial.arrives(...keys);
}

/** More batches of one size than a broker has partitions, so that some share a partition. */
async function takesSeveral(trial: SinkTrial): Promise<void> {
  const sink = trial.open();
  const keys = sentKeys(16, 40);
  for (const from of [0, 20])
    await Promise.all(keys.map(({ messages }) => trial.accepts(sink, messages.slice(from, from + 20))));
  await trial.arrives(...keys);
}

async function acceptsLarge(trial: SinkTrial): Promise<void> {
  const keys = sentKeys(50, 10, LARGE_TEXT);
  await trial.accepts(trial.open(), inTurn(keys, 0, 10));
  await trial.arrives(...keys);
}

/** Simulates a take-over by a process with an older checkpoint. */
async function acceptsRepetitions(trial: SinkTrial): Promise<void> {
  const key = sentKey(6);
  await trial.accepts(trial.open(), key.messages.slice(0, 4));
  await trial.accepts(trial.open(), key.messages.slice(2));
  await trial.arrives(key);
}

async function stopsAtAbort(trial: SinkTrial): Promise<void> {
  const sink = trial.open();
  const [ended, cut, after] = [sentKey(3), sentKey(3), sentKey(3)];
  await trial.attempt(sink, ended.messages, AbortSignal.abort());
  const abort = new AbortController();
  const attempt = trial.attempt(sink, cut.messages, abort.signal);
  abort.abort();
  const outcomes = await attempt;
  await trial.accepts(trial.open(), after.messages);
  await trial.arrives(after);
  await trial.arrives({
    ...cut,
    messages: cut.messages.filter((_, nr) => outcomes[nr]?.kind === 'accepted'),
  });
  deepStrictEqual(await trial.idsOf(ended), [], 'Messages were sent whose signal had been aborted before');
}

async function closes(trial: SinkTrial): Promise<void> {
  await trial.settles(trial.open().close(), 'close() of a sink that has sent nothing');
  const sink = trial.open();
  const key = sentKey(2);
  await trial.accepts(sink, key.messages);
  await trial.settles(sink.close(), 'close()');
  await trial.settles(sink.close(), 'The second close()');
  await trial.arrives(key);
}

async function rejects(
  trial: SinkTrial,
  unacceptable: (message: RelayMessage) => RelayMessage,
): Promise<void> {
  const sink = trial.open();
  const [bad, good] = [sentKey(4), sentKey(4)];
  const before = bad.messages.slice(0, 1);
  const poison = bad.messages.slice(1, 2).map(unacceptable);
  const behind = bad.messages.slice(2);
  const sent = [...good.messages.slice(0, 2), ...before, ...poison, ...behind, ...good.messages.slice(2)];
  const outcomes = await trial.attempt(sink, sent);
  const kindsOf = (messages: readonly RelayMessage[]): readonly PublishOutcome['kind'][] =>
    messages.map((message) => outcomes[sent.indexOf(message)]?.kind ?? 'deferred');
  deepStrictEqual(kindsOf(poison), ['rejected'], `Expected a rejection, got ${trial.show(outcomes)}`);
  for (const kind of kindsOf(good.messages)) notStrictEqual(kind, 'rejected', 'A valid message was rejected');
  const left = [...before, ...good.messages].filter((message) => kindsOf([message])[0] !== 'accepted');
  await trial.accepts(sink, left);
  await trial.arrives({ ...bad, messages: before }, good);
  deepStrictEqual(
    await trial.idsOf({ ...bad, messages: behind }),
    [],
    'A message behind the rejected one was sent',
  );
  await trial.accepts(sink, behind);
  await trial.arrives({ ...bad, messages: [...before, ...behind] });
}

async function waitsFor(trial: SinkTrial, outage: Outage): Promise<void> {
  const before = trial.open();
  const [one, two, three] = [sentKey(30), sentKey(30), sentKey(30)];
  const rest = one.messages.slice(10);
  await trial.accepts(before, one.messages.slice(0, 10));
  await outage.begin();
  let waiting: Promise<unknown> = Promise.resolve();
  try {
    const outcomes = await trial.attempt(before, rest);
    const wrong = outcomes.filter(({ kind }) => kind !== 'deferred');
    deepStrictEqual(wrong, [], 'A receiver out of reach cannot have accepted or rejected anything');
    const during = trial.open();
    waiting = Promise.all([
      trial.accepts(before, rest),
      trial.accepts(during, two.messages),
      trial.accepts(during, three.messages),
    ]);
    waiting.catch(() => {});
  } finally {
    await outage.end();
  }
  await waiting;
  await trial.arrives(one, two, three);
}

function sentKeys(count: number, messages: number, text?: string): readonly SentKey[] {
  return Array.from({ length: count }, () => sentKey(messages, text));
}

/** The messages from one index to another, alternating between the keys. */
function inTurn(keys: readonly SentKey[], from: number, to: number): readonly RelayMessage[] {
  const turns = Array.from({ length: to - from }, (_, index) => from + index);
  return turns.flatMap((turn) => keys.flatMap(({ messages }) => messages[turn] ?? []));
}
