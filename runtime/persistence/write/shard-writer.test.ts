import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardBusyError, ValidationError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { FlushOutcome } from '../shard-store.js';
import { ManualStore } from '../test-support/manual-store.js';
import { planOf } from '../test-support/plans.js';
import { LostWrite } from './flush-failure.js';
import { PendingPlan } from './pending-plan.js';
import type { PlanWrite } from './plan-write.js';
import type { Submission } from './queued-plan.js';
import { ShardWriter } from './shard-writer.js';
import { DEFAULT_WRITER_LIMITS, type WriterLimits } from './writer-limits.js';

const UNIQUE = new DriverFailure('duplicate key', { phase: 'answered', sqlState: '23505' });
const nextTurn = (): Promise<unknown> => new Promise(setImmediate);
const LOST = new DriverFailure('connection lost', { phase: 'in-flight' });
const UNREACHABLE = new DriverFailure('unreachable', { phase: 'not-sent', reason: 'unreachable' });
const SHUTDOWN = new DriverFailure('shutting down', { phase: 'answered', sqlState: '57P01' });
const LOCKED = new DriverFailure('lock timeout', { phase: 'answered', sqlState: '55P03' });
const INVALID = new ValidationError('too many decimals');

interface Submitted extends Submission {
  readonly plan: PlanWrite;
  /** What became of it: kind of the outcome, or the error. */
  readonly end: Promise<unknown>;
}

/** Counts how often plans that are submitted with these options are looked at in the queue. */
function countLooks(): { readonly options: object; readonly count: () => number } {
  let looks = 0;
  const options = {
    /** One for each plan. A look before it is listened to is none at the queue. */
    get signal(): object {
      let isQueued = false;
      return {
        addEventListener: () => {
          isQueued = true;
        },
        removeEventListener: () => {},
        get aborted(): boolean {
          if (isQueued) looks += 1;
          return false;
        },
      };
    },
  };
  return { options, count: () => looks };
}

class Bench {
  readonly manual = new ManualStore();
  readonly writer: ShardWriter;

  /** @param soon default: at once, so that a plan that can be sent has been sent when `submit` returns */
  constructor(limits: Partial<WriterLimits> = {}, soon: (work: () => void) => void = (work) => work()) {
    const all = { ...DEFAULT_WRITER_LIMITS, maximumInFlight: 1, overlapFrom: 1, ...limits };
    const isFoldable = ({ folding }: ModelDescriptor): boolean => folding !== false;
    this.writer = new ShardWriter(this.manual.store, ShardIdentifier.of(0, 0), all, isFoldable, soon);
  }

  submit(change: string, dependsOn: readonly Submitted[] = [], options: object = {}): Submitted {
    const plan = planOf(...change.split(' '));
    const dependencies = dependsOn.map(({ pending }) => pending);
    const submission = this.writer.submit(plan, { timeoutMs: 60_000, dependsOn: dependencies, ...options });
    const end = submission.outcome.then(
      ({ kind }) => kind,
      (error: unknown) => error,
    );
    return { ...submission, plan, end };
  }

  /**
   * Submits these plans while a statement is in flight, and answers that one. `a2>3 < 0 1` depends on the plans at the
   * indexes 0 and 1.
   */
  async queue<const Changes extends readonly string[]>(
    ...changes: Changes
  ): Promise<{ [Index in keyof Changes]: Submitted }> {
    const held = this.hold();
    const queued: Submitted[] = [];
    for (const each of changes) {
      const [change = '', indexes] = each.split(' < ');
      const dependsOn = indexes?.split(' ').map((index) => queued[Number(index)] as Submitted);
      queued.push(this.submit(change, dependsOn));
    }
    await held.release();
    return queued as { [Index in keyof Changes]: Submitted };
  }

  /** Keeps the writer busy: what is submitted meanwhile waits. */
  hold(): { release(): Promise<void> } {
    this.submit('z1>2');
    const { last } = this.manual;
    return { release: () => last.answer() };
  }
}

const endsOf = (...plans: readonly Submitted[]): Promise<readonly unknown[]> =>
  Promise.all(plans.map(({ end }) => end));

describe('merging', () => {
  test('what one turn of the event loop brings travels as one statement', async () => {
    const bench = new Bench({}, setImmediate);
    bench.submit('a1>2');
    const first = bench.submit('b1>2');
    await Promise.resolve();
    bench.submit('b2>3', [first]);
    expect(bench.manual.texts).toEqual([]);
    await nextTurn();
    expect(bench.manual.texts).toEqual(['a1>2 | b1>2, b2>3']);
  });

  test('the first half of many goes ahead while the other half is still being made, and the halves take turns', async () => {
    const bench = new Bench({ aheadFrom: 2 }, setImmediate);
    const submit = (rows: string): void => {
      for (const row of rows) bench.submit(`${row}1>2`);
    };
    submit('abcdef');
    expect(bench.manual.texts).toEqual(['a1>2 | b1>2']);
    await bench.manual.last.answer();
    expect(bench.manual.texts.at(-1)).toBe('c1>2 | d1>2 | e1>2 | f1>2');
    await bench.manual.last.answer();
    // Six were under way: three of them are a half.
    submit('gh');
    expect(bench.manual.texts).toHaveLength(2);
    submit('ijk');
    expect(bench.manual.texts.at(-1)).toBe('g1>2 | h1>2 | i1>2');
  });

  test('plans that wait for something else are not looked at again for each that joins them', () => {
    const bench = new Bench({ aheadFrom: 2 }, setImmediate);
    const settling = { pending: new PendingPlan() } as Submitted;
    const looks = countLooks();
    for (let count = 0; count < 100; count += 1)
      bench.submit(`a${count}>${count + 1}`, [settling], looks.options);
    expect(looks.count()).toBe(2);
    expect(bench.manual.texts).toEqual([]);
  });

  test('what queues up while a statement is in flight travels as one statement', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const plans = ['a1>2', 'b1>2 c1>2', '+d', 'e1?'].map((change) => bench.submit(change));
    expect(bench.writer.queued).toBe(4);
    await held.release();
    expect(bench.manual.last.text).toBe('a1>2 | b1>2 c1>2 | +d | e1?');
    await bench.manual.last.answer();
    for (const { end } of plans) expect(await end).toBe('applied');
    expect(await plans[0]?.outcome).toMatchObject({ batchSize: 4, chainLength: 1 });
    expect(bench.writer.counters).toEqual({ statements: 2, plans: 5, folded: 0, splits: 0 });
  });

  test('no statement holds more plans than allowed, and no more statements are in flight than allowed', async () => {
    const bench = new Bench({ maximumBatch: 2, maximumInFlight: 2 });
    for (const row of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) bench.submit(`${row}1>2`);
    expect(bench.manual.texts).toEqual(['a1>2', 'b1>2']);
    await bench.manual.last.answer();
    expect(bench.manual.texts.slice(2)).toEqual(['c1>2 | d1>2']);
    await bench.manual.last.answer();
    expect(bench.manual.last.text).toBe('e1>2 | f1>2');
  });

  test('another statement goes behind the one on its way once enough wait, or half of what that one carries', async () => {
    const bench = new Bench({ maximumInFlight: 2, overlapFrom: 3 });
    const submit = (rows: string): void => {
      for (const row of rows) bench.submit(`${row}1>2`);
    };
    bench.hold();
    const [held] = bench.manual.sent;
    submit('ab');
    expect(bench.manual.texts).toHaveLength(1);
    submit('cdefghijkl');
    expect(bench.manual.texts.slice(1)).toEqual(['a1>2 | b1>2 | c1>2']);
    await held?.answer();
    expect(bench.manual.texts.slice(2)).toEqual([
      'd1>2 | e1>2 | f1>2 | g1>2 | h1>2 | i1>2 | j1>2 | k1>2 | l1>2',
    ]);
    await bench.manual.sent[1]?.answer();
    submit('mnop');
    expect(bench.manual.texts).toHaveLength(3);
    submit('q');
    expect(bench.manual.texts.slice(3)).toEqual(['m1>2 | n1>2 | o1>2 | p1>2 | q1>2']);
  });

  test('plans that wait for the statement on its way do not count for one behind it', async () => {
    const bench = new Bench({ maximumInFlight: 2, overlapFrom: 2 });
    let last = bench.submit('a1>2');
    const looks = countLooks();
    for (let version = 2; version < 20; version += 1)
      last = bench.submit(`a${version}>${version + 1}`, [last], looks.options);
    expect(bench.manual.texts).toEqual(['a1>2']);
    const before = looks.count();
    bench.submit('b1>2');
    expect(bench.manual.texts).toHaveLength(1);
    bench.submit('c1>2');
    expect(bench.manual.texts.slice(1)).toEqual(['b1>2 | c1>2']);
    expect(looks.count() - before).toBeLessThanOrEqual(18);
    await bench.manual.sent[0]?.answer();
    expect(bench.manual.texts).toHaveLength(3);
  });

  test('those that wait for a chain on its way are looked at once when it is answered', async () => {
    const bench = new Bench({ maximumInFlight: 2, overlapFrom: 20 });
    const held = bench.hold();
    let last: readonly Submitted[] = [];
    const chain = (from: number, options: object): void => {
      for (let version = from; version < from + 20; version += 1)
        last = [bench.submit(`a${version}>${version + 1}`, last, options)];
    };
    chain(1, {});
    await held.release();
    const looks = countLooks();
    chain(21, looks.options);
    const before = looks.count();
    await bench.manual.last.answer();
    expect(looks.count() - before).toBe(20);
    expect(bench.manual.last.request.groups).toHaveLength(1);
  });

  test('two plans that touch one row are never under way together', async () => {
    const bench = new Bench({ maximumInFlight: 4 });
    bench.submit('a1>2');
    const second = bench.submit('a1>2 b1>2');
    bench.submit('a1? c1>2');
    bench.submit('d1>2');
    expect(bench.manual.texts).toEqual(['a1>2', 'd1>2']);
    await bench.manual.sent[0]?.answer();
    expect(bench.manual.last.text).toBe('a1>2 b1>2');
    await bench.manual.last.answer('left-out');
    await bench.manual.last.answer('left-out');
    expect(await second.end).toBe('stale');
    expect(bench.manual.last.text).toBe('a1? c1>2');
  });

  test.each([
    ['an update of one row waits after an update', ['a1>2', 'b1>2', 'a1>2 < 1'], 'a1>2 | b1>2'],
    ['an update waits after an expectation', ['a1?', 'b1>2', 'a1>2 < 1'], 'a1? | b1>2'],
    ['an expectation waits after an update', ['a1>2', 'b1>2', 'a1? < 1'], 'a1>2 | b1>2'],
    ['an expectation waits after one of another version', ['a1?', 'b1>2', 'a2? < 1'], 'a1? | b1>2'],
    ['an addition waits after an addition', ['+a', 'b1>2', '+a < 1'], '+a | b1>2'],
    ['an update waits for a state that it has not read', ['a1>2', 'b1>2', 'a2>3 < 1'], 'a1>2 | b1>2'],
    [
      'expectations of one version share a statement',
      ['a1? b1>2', 'a1? c1>2', 'a1>2'],
      'a1? b1>2 | a1? c1>2',
    ],
    ['a plan goes with one whose state it has only read', ['a1>2', 'c1>2', 'b1>2 < 0'], 'a1>2, b1>2 | c1>2'],
    ['changes of a row that must not be folded', ['!a1>2', '!a2>3 < 0'], '!a1>2', '!a2>3'],
    ['an expectation of what a chain changes', ['a1>2', 'a2? b1>2 < 0'], 'a1>2', 'a2? b1>2'],
  ])('%s: %j', async (_, changes, ...texts) => {
    const bench = new Bench();
    await bench.queue(...changes);
    for (const text of texts) {
      expect(bench.manual.last.text).toBe(text);
      await bench.manual.last.answer();
    }
  });

  test('a full queue refuses further plans at once', () => {
    const bench = new Bench({ maximumQueued: 2 });
    bench.hold();
    bench.submit('a1>2');
    bench.submit('b1>2');
    expect(() => bench.submit('c1>2')).toThrow(ShardBusyError);
  });

  test('what was left out and waits counts as queued', async () => {
    const bench = new Bench({ maximumQueued: 2, maximumWaiting: 0 });
    const [_first] = await bench.queue('a1>2', 'a2>3 < 0');
    await bench.manual.last.answer('left-out');
    expect(bench.writer.queued).toBe(2);
    expect(() => bench.submit('c1>2')).toThrow(ShardBusyError);
  });
});

describe('chaining', () => {
  test('plans that depend on one another go as one group, in their order', async () => {
    const bench = new Bench();
    const [_first, _other, _second, third] = await bench.queue('a1>2', 'b1>2', 'a2>3 < 0', 'a3>4 b2>3 < 2 1');
    expect(bench.manual.last.text).toBe('a1>2, a2>3, b1>2, a3>4 b2>3');
    await bench.manual.last.answer();
    expect(await third.outcome).toMatchObject({ kind: 'applied', batchSize: 4, chainLength: 4 });
    expect(bench.writer.counters.folded).toBe(3);
  });

  test('a plan whose pending is in flight waits for its answer', async () => {
    const bench = new Bench({ maximumInFlight: 4 });
    const first = bench.submit('a1>2');
    bench.submit('b1>2', [first]);
    expect(bench.manual.texts).toEqual(['a1>2']);
    await bench.manual.last.answer();
    expect(await first.outcome).toMatchObject({ kind: 'applied', batchSize: 1, chainLength: 1 });
    expect(bench.manual.last.text).toBe('b1>2');
  });

  test('a pending plan that fails breaks everything that depends on it, without sending it', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const first = bench.submit('a1>2', [], { signal: AbortSignal.abort() });
    const second = bench.submit('a2>3', [first]);
    const third = bench.submit('b1>2', [second]);
    await held.release();
    expect(await first.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    expect(await endsOf(second, third)).toEqual(['dependency-failed', 'dependency-failed']);
    expect([second.pending.state, third.pending.state]).toEqual(['failed', 'failed']);
    expect(bench.manual.sent).toHaveLength(1);
  });

  test('a pending plan that fails while plans are being taken lets none be sent twice', async () => {
    const bench = new Bench({ maximumInFlight: 2 });
    const busy = [bench.submit('y1>2'), bench.submit('z1>2')];
    const controller = new AbortController();
    const first = bench.submit('a1>2', [], { signal: controller.signal });
    const others = [bench.submit('a2>3', [first]), bench.submit('b1>2'), bench.submit('c1>2')];
    controller.abort();
    await bench.manual.sent[0]?.answer();
    await bench.manual.sent[1]?.answer();
    for (const flush of bench.manual.sent.slice(2)) await flush.answer();
    await Promise.all([...busy, ...others].map(({ end }) => end));
    const plans = bench.manual.sent.flatMap(({ request }) => request.groups.flat());
    expect(plans.map(({ action }) => action.name).sort()).toEqual(['b1>2', 'c1>2', 'y1>2', 'z1>2']);
  });

  test('a pending plan of another writer is waited for, and its outcome is respected', async () => {
    const bench = new Bench();
    const [applied, failed] = [new PendingPlan(), new PendingPlan()];
    const first = bench.submit('a1>2', [], { dependsOn: [applied] });
    const second = bench.submit('b1>2', [], { dependsOn: [failed] });
    expect(bench.manual.sent).toHaveLength(0);
    applied.settle(true);
    failed.settle(false);
    expect(bench.manual.texts).toEqual(['a1>2']);
    await bench.manual.last.answer();
    expect([await first.end, await second.end]).toEqual(['applied', 'dependency-failed']);
  });
});

describe('a plan that was left out', () => {
  test('for a row that was merely locked is applied then, and reported as contended', async () => {
    const bench = new Bench();
    const plan = bench.submit('a1>2');
    await bench.manual.last.answer('left-out');
    await bench.manual.last.answer('applied');
    expect(await plan.outcome).toMatchObject({ kind: 'applied', contended: true });
  });

  test('is not sent again once its caller has given up', async () => {
    const bench = new Bench({ maximumWaiting: 1 });
    const held = bench.hold();
    bench.submit('a1>2');
    const controller = new AbortController();
    const second = bench.submit('b1>2', [], { signal: controller.signal });
    await held.release();
    await bench.manual.last.answer('left-out', 'left-out');
    controller.abort();
    await bench.manual.last.answer();
    expect(await second.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    expect(bench.manual.sent).toHaveLength(3);
  });

  test('blocks only plans that touch its rows', async () => {
    const bench = new Bench();
    bench.submit('a1>2');
    await bench.manual.last.answer('left-out');
    expect(bench.manual.last.text).toBe('a1>2 (wait)');
    bench.submit('a1>2 b1>2');
    bench.submit('c1>2');
    expect(bench.manual.last.text).toBe('c1>2');
  });
});

/** Each statement with the answer to its groups, or with its failure. */
type Sent = readonly (readonly [text: string, ...answers: (FlushOutcome | Error)[]])[];

/** What became of plans that were queued together. */
const ANSWERED: [
  title: string,
  queued: readonly string[],
  sent: Sent,
  ends: readonly unknown[],
  options?: { readonly limits?: Partial<WriterLimits>; readonly splits?: number },
][] = [
  [
    'a plan that was left out is sent once more by itself and waits for locks; then it is stale',
    ['a1>2', 'b1>2'],
    [
      ['a1>2 | b1>2', 'left-out', 'applied'],
      ['a1>2 (wait)', 'left-out'],
    ],
    ['stale', 'applied'],
  ],
  [
    'a chain that was left out is sent once more as a whole; if it is stale, no other plan is sent again',
    ['a1>2', 'a2>3 < 0', 'a3>4 < 1'],
    [
      ['a1>2, a2>3, a3>4', 'left-out'],
      ['a1>2, a2>3, a3>4 (wait)', 'left-out'],
    ],
    ['stale', 'dependency-failed', 'dependency-failed'],
  ],
  [
    'a chain on several rows is then sent plan by plan, because any of the rows may be the stale one',
    ['a1>2', 'a2>3 b1>2 < 0'],
    [
      ['a1>2, a2>3 b1>2', 'left-out'],
      ['a1>2, a2>3 b1>2 (wait)', 'left-out'],
      ['a1>2 (wait)', 'applied'],
      ['a2>3 b1>2 (wait)', 'left-out'],
    ],
    ['applied', 'stale'],
  ],
  [
    'a plan that meets a lock for too long fails, with all who want that row',
    ['a1>2', 'a2>3 < 0'],
    [
      ['a1>2, a2>3', 'left-out'],
      ['a1>2, a2>3 (wait)', LOCKED],
    ],
    [LOCKED, LOCKED],
  ],
  [
    'a plan that was left out waits its turn if too many wait for locks already',
    ['a1>2', 'b1>2'],
    [['a1>2 | b1>2', 'left-out', 'left-out'], ['a1>2 (wait)'], ['b1>2 (wait)']],
    ['applied', 'applied'],
    { limits: { maximumWaiting: 1 } },
  ],
  [
    'a statement that fails is split until the guilty plan stands alone, and no neighbour is lost',
    ['a1>2', 'b1>2', 'c1>2', 'd1>2', 'e1>2'],
    [
      ['a1>2 | b1>2 | c1>2 | d1>2 | e1>2', UNIQUE],
      ['a1>2 | b1>2 | c1>2'],
      ['d1>2 | e1>2', UNIQUE],
      ['d1>2', UNIQUE],
      ['e1>2'],
    ],
    ['applied', 'applied', 'applied', UNIQUE, 'applied'],
    { splits: 2 },
  ],
  [
    'a statement with a value that fits no column is split too',
    ['a1>2', 'b1>2'],
    [['a1>2 | b1>2', INVALID], ['a1>2', INVALID], ['b1>2']],
    [INVALID, 'applied'],
    { splits: 1 },
  ],
  [
    'a statement is not split if the server is at fault, because fewer plans would not help',
    ['a1>2', 'b1>2'],
    [['a1>2 | b1>2', SHUTDOWN]],
    [SHUTDOWN, SHUTDOWN],
  ],
  [
    'a folded group that fails is unfolded: what stands before the guilty plan is applied',
    ['a1>2', 'a2>3 < 0', 'a3>4 < 1'],
    [['a1>2, a2>3, a3>4', UNIQUE], ['a1>2 (wait)'], ['a2>3 (wait)', UNIQUE]],
    ['applied', UNIQUE, 'dependency-failed'],
  ],
  [
    'a connection lost before anything was sent fails the plans for good',
    ['a1>2'],
    [['a1>2', UNREACHABLE]],
    [UNREACHABLE],
  ],
];

test.each(ANSWERED)('%s', async (_, queued, sent, ends, { limits = {}, splits } = {}) => {
  const bench = new Bench(limits);
  const plans: readonly Submitted[] = await bench.queue(...queued);
  for (const [index, [text, ...answers]] of sent.entries()) {
    const flush = bench.manual.sent[index + 1];
    expect(flush?.text).toBe(text);
    const [first] = answers;
    await (first instanceof Error ? flush?.fail(first) : flush?.answer(...(answers as FlushOutcome[])));
  }
  expect(await endsOf(...plans)).toEqual(ends);
  const states = ends.map((end) => (end === 'applied' ? 'applied' : 'failed'));
  expect(plans.map(({ pending }) => pending.state)).toEqual(states);
  expect(bench.manual.sent).toHaveLength(sent.length + 1);
  if (splits !== undefined) expect(bench.writer.counters.splits).toBe(splits);
});

describe('a connection lost in flight', () => {
  test('leaves every plan with the action that decides about it, and the dependencies open', async () => {
    const bench = new Bench();
    const [first, second, other] = await bench.queue('a1>2', 'a2>3 < 0', 'b1>2');
    await bench.manual.last.fail(LOST);
    const fences = (await endsOf(first, second, other)).map((error) =>
      error instanceof LostWrite ? error.fence : error,
    );
    expect(fences).toEqual([first.plan.action, first.plan.action, other.plan.action]);
    expect([first.pending.state, second.pending.state, other.pending.state]).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
  });

  test('blocks dependent plans until its outcome is known', async () => {
    const bench = new Bench();
    const first = bench.submit('a1>2');
    await bench.manual.last.fail(LOST);
    const second = bench.submit('a2>3', [first]);
    expect(bench.manual.sent).toHaveLength(1);
    first.pending.settle(true);
    expect(bench.manual.last.text).toBe('a2>3');
    await bench.manual.last.answer();
    expect(await second.end).toBe('applied');
  });
});

describe('a deadline', () => {
  test('in the queue takes the plan out of it', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const plan = bench.submit('a1>2', [], { timeoutMs: 5 });
    const next = bench.submit('a2>3', [plan]);
    expect(await plan.end).toMatchObject({ phase: 'not-sent', reason: 'deadline' });
    expect(plan.pending.state).toBe('failed');
    await held.release();
    expect(await next.end).toBe('dependency-failed');
    expect(bench.manual.sent).toHaveLength(1);
  });

  test.each(['applied', 'failed'] as const)('in flight leaves the outcome open: %s', async (state) => {
    const bench = new Bench();
    const plan = bench.submit('a1>2', [], { timeoutMs: 5 });
    expect(await plan.end).toMatchObject({ fence: plan.plan.action });
    expect(plan.pending.state).toBe('pending');
    if (state === 'failed') plan.pending.settle(false);
    await bench.manual.last.answer();
    expect(plan.pending.state).toBe(state);
  });

  test('of the most patient plan is that of the statement', async () => {
    const bench = new Bench();
    const held = bench.hold();
    bench.submit('a1>2', [], { timeoutMs: 1_000 });
    bench.submit('b1>2', [], { timeoutMs: 9_000 });
    await held.release();
    expect(bench.manual.last.timeoutMs).toBeGreaterThan(8_000);
    expect(bench.manual.last.timeoutMs).toBeLessThanOrEqual(9_000);
  });

  test('that has passed keeps a plan from being sent again by itself', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const first = bench.submit('a1>2');
    const hasty = bench.submit('a2>3', [first], { timeoutMs: 30 });
    await held.release();
    expect(await hasty.end).toMatchObject({ fence: first.plan.action });
    await bench.manual.last.answer('left-out');
    expect(bench.manual.last.text).toBe('a1>2 (wait)');
    await bench.manual.last.answer();
    expect(await first.end).toBe('applied');
    expect(bench.manual.sent).toHaveLength(3);
    expect(hasty.pending.state).toBe('failed');
  });
});

describe('a plan whose time ends before there is a connection', () => {
  test('is taken out of its statement, whose other plans go on waiting', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const patient = bench.submit('a1>2');
    const hasty = bench.submit('b1>2', [], { timeoutMs: 5 });
    const hastier = bench.submit('c1>2', [], { timeoutMs: 5 });
    const behind = bench.submit('b2>3', [hasty]);
    bench.manual.hasConnection = false;
    await held.release();
    expect(bench.manual.waiting).toBe(1);
    for (const { end, pending } of [hasty, hastier]) {
      expect(await end).toMatchObject({ phase: 'not-sent', reason: 'deadline' });
      expect(pending.state).toBe('failed');
    }
    expect(await behind.end).toBe('dependency-failed');
    await nextTurn();
    expect(bench.manual.waiting).toBe(1);
    await bench.manual.connect();
    expect(bench.manual.last.text).toBe('a1>2');
    await bench.manual.last.answer();
    expect(await patient.end).toBe('applied');
    expect(bench.writer.counters).toEqual({ statements: 2, plans: 2, folded: 0, splits: 0 });
  });

  test('is not sent at all if it stands alone', async () => {
    const bench = new Bench();
    bench.manual.hasConnection = false;
    const plan = bench.submit('a1>2', [], { timeoutMs: 5 });
    expect(await plan.end).toMatchObject({ phase: 'not-sent', reason: 'deadline' });
    await bench.manual.connect();
    expect(bench.manual.sent).toEqual([]);
    const next = bench.submit('a1>2');
    await bench.manual.last.answer();
    expect(await next.end).toBe('applied');
  });

  test('is taken out of a statement that waits for locks', async () => {
    const bench = new Bench();
    const held = bench.hold();
    const first = bench.submit('a1>2 b1>2');
    const hasty = bench.submit('a2>3', [first], { timeoutMs: 100 });
    await held.release();
    bench.manual.hasConnection = false;
    await bench.manual.last.answer('left-out');
    expect(await hasty.end).toMatchObject({ phase: 'not-sent', reason: 'deadline' });
    await bench.manual.connect();
    expect(bench.manual.last.text).toBe('a1>2 b1>2 (wait)');
    await bench.manual.last.answer();
    expect(await first.end).toBe('applied');
  });
});

describe('an abort', () => {
  test('is reported at once, however long others take, and also if it came before the plan', async () => {
    const bench = new Bench();
    bench.hold();
    const controller = new AbortController();
    const plan = bench.submit('a1>2', [], { signal: controller.signal });
    const follower = bench.submit('a2>3', [plan]);
    const apart = bench.submit('b1>2', [follower], { signal: controller.signal });
    controller.abort();
    expect(await plan.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    expect(await apart.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    const late = bench.submit('c1>2', [], { signal: controller.signal });
    expect(await late.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    expect([plan, apart, late].map(({ pending }) => pending.state)).toEqual(['failed', 'failed', 'failed']);
    expect(bench.manual.sent).toHaveLength(1);
  });

  test('takes a plan back whose statement waits for a connection, and the others go on waiting', async () => {
    const bench = new Bench({}, setImmediate);
    bench.manual.hasConnection = false;
    const controller = new AbortController();
    const plan = bench.submit('a1>2', [], { signal: controller.signal });
    const other = bench.submit('b1>2');
    await nextTurn();
    controller.abort();
    expect(await plan.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    await nextTurn();
    await bench.manual.connect();
    expect(bench.manual.texts).toEqual(['b1>2']);
    await bench.manual.last.answer();
    expect(await other.end).toBe('applied');
  });

  test('of thousands of plans at once takes time in proportion to their number', async () => {
    const bench = new Bench({}, setImmediate);
    bench.submit('z1>2');
    await nextTurn();
    const controller = new AbortController();
    const plans = Array.from({ length: 9_000 }, () => {
      return bench.submit('a1>2', [], { signal: controller.signal });
    });
    const before = process.cpuUsage();
    controller.abort();
    await nextTurn();
    expect(process.cpuUsage(before).user).toBeLessThan(300_000);
    expect(bench.writer.queued).toBe(0);
    expect(await plans.at(-1)?.end).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
  });

  test('is not listened for any more once the plan is settled', async () => {
    const bench = new Bench();
    const { signal } = new AbortController();
    const plan = bench.submit('a1>2', [], { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await bench.manual.last.answer();
    await plan.end;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('does not stop a plan that is in flight', async () => {
    const bench = new Bench();
    const controller = new AbortController();
    const plan = bench.submit('a1>2', [], { signal: controller.signal });
    controller.abort();
    await sleep(1);
    await bench.manual.last.answer();
    expect(await plan.end).toBe('applied');
  });
});
