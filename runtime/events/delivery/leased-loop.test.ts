import { describe, expect, test } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import { useTime } from '../../concurrency/time.js';
import { EventEpochError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { LeasedLoop, type LeasedWork, type RunEnd, SUPERSEDED_GRACE_MS } from './leased-loop.js';

interface Given {
  /** The lease has expired before the first round. */
  readonly expired?: boolean;
  readonly work?: (loop: LeasedLoop) => Partial<LeasedWork>;
  /** Called in the first round. Default: no effect. */
  readonly first?: (loop: LeasedLoop) => void;
}

interface Told {
  readonly loop: LeasedLoop;
  readonly calls: string[];
  readonly warnings: string[];
}

/** A run whose second round ends it as `finished`, so that each case shows what prevents that round. */
function start({ expired = false, work = () => ({}), first = () => {} }: Given): Told {
  const calls: string[] = [];
  const warnings: string[] = [];
  const lease = { name: 'Mirror', holder: 'process', fence: '1' };
  const held = new HeldLease(lease, performance.now() - (expired ? 120_000 : 0), 60_000);
  const made = (loop: LeasedLoop): LeasedWork => ({
    round: async () => {
      await Promise.resolve();
      calls.push('round');
      if (calls.filter((call) => call === 'round').length > 1) loop.finish({ kind: 'finished' });
      else first(loop);
    },
    close: async ({ kind }) => void calls.push(`close ${kind}`),
    ...work(loop),
  });
  const loop = new LeasedLoop(held, made, (message) => void warnings.push(message));
  return { loop, calls, warnings };
}

const fail = (error: unknown) => (): never => {
  throw error;
};
const closed = new DriverFailure('closed', { phase: 'not-sent', reason: 'closed' });
const restored = new EventEpochError('(0, 0)', '1', '2');
const stop = (loop: LeasedLoop): void => void loop.stop(60_000);
const supersede = (loop: LeasedLoop): void => loop.supersede();

describe('A working run', () => {
  const finishTwice = (loop: LeasedLoop): void => {
    loop.finish({ kind: 'waiting', reason: 'first' });
    loop.finish({ kind: 'lost' });
  };
  const regain = async ({ lease }: LeasedLoop): Promise<void> => {
    await Promise.resolve();
    lease.renewed(performance.now());
  };
  const twoRounds = ['round', 'round', 'close finished'];

  test.each<[string, Given, RunEnd, string[], string[]?]>([
    ['works in rounds until its work finishes it, and closes once', {}, { kind: 'finished' }, twoRounds],
    [
      'keeps the first reason to end',
      { first: finishTwice },
      { kind: 'waiting', reason: 'first' },
      ['round', 'close waiting'],
    ],
    ['starts no round after its lease has expired', { expired: true }, { kind: 'lost' }, ['close lost']],
    [
      'ends between two rounds when its lease is lost',
      { first: ({ lease }) => lease.lost() },
      { kind: 'lost' },
      ['round', 'close lost'],
    ],
    [
      'continues if its work regains the lease',
      { expired: true, work: (loop) => ({ regain: () => regain(loop) }) },
      { kind: 'finished' },
      twoRounds,
    ],
    [
      'warns of a failed round and starts another one',
      { first: fail(new Error('no answer')) },
      { kind: 'finished' },
      twoRounds,
      ['Mirror: no answer'],
    ],
    [
      'ends without a warning on a closed database',
      { first: fail(closed) },
      { kind: 'lost' },
      ['round', 'close lost'],
    ],
    [
      'ends without a warning on a restored server',
      { first: fail(restored) },
      { kind: 'waiting', reason: restored.message },
      ['round', 'close waiting'],
    ],
  ])('%s', async (_, given, end, calls, warnings = []) => {
    const told = start(given);
    expect(await told.loop.ended).toEqual(end);
    expect(told).toMatchObject({ calls, warnings, loop: { state: 'ended', mayWork: false } });
    expect(told.loop.signal.aborted).toBe(true);
  });

  test('warns once while rounds fail in the same way', async () => {
    const down = (message: string): DriverFailure =>
      new DriverFailure(message, { phase: 'not-sent', reason: 'unreachable' });
    const failures = [down('refused'), down('no route'), new Error('full'), undefined, new Error('full')];
    const { loop, warnings } = start({
      work: (each) => ({
        round: async () => {
          if (failures.length === 0) return each.finish({ kind: 'finished' });
          const failure = failures.shift();
          if (failure !== undefined) throw failure;
        },
      }),
    });
    expect(await loop.ended).toEqual({ kind: 'finished' });
    expect(warnings).toEqual(['Mirror: refused', 'Mirror: full', 'Mirror: full']);
  });
});

describe.each([
  ['stopped', stop],
  ['superseded', supersede],
] as const)('A %s run', (kind, begin) => {
  test('ends after its round if nothing else is in progress, even without a lease', async () => {
    const first = (loop: LeasedLoop): void => {
      begin(loop);
      loop.lease.lost();
    };
    const { loop, calls } = start({ first });
    expect(await loop.ended).toEqual({ kind });
    expect(calls).toEqual(['round', `close ${kind}`]);
  });

  const loseAndFail = (loop: LeasedLoop): never => {
    loop.lease.lost();
    throw new Error('no answer');
  };

  test.each<[string, (loop: LeasedLoop) => void, RunEnd['kind'], string[]?]>([
    ['until its work finishes it', (loop) => expect(loop).toMatchObject({ state: kind }), 'stopped'],
    ['until it loses its lease', ({ lease }) => lease.lost(), 'lost'],
    ['and retries after a failure', fail(new Error('no answer')), 'stopped', ['Mirror: no answer']],
    ['and does not retry without its lease', loseAndFail, 'lost', ['Mirror: no answer']],
    ['until its database is closed', fail(closed), 'lost'],
    ['until its server is another one', fail(restored), 'waiting'],
  ])('winds down %s', async (_, then, end, warnings = []) => {
    let turns = 0;
    const told = start({
      first: begin,
      work: (loop) => ({
        windDown: async () => {
          await Promise.resolve();
          turns += 1;
          expect(loop.mayWork).toBe(false);
          if (turns === 1) then(loop);
          else loop.finish({ kind: 'stopped' });
        },
      }),
    });
    expect((await told.loop.ended).kind).toBe(end);
    expect(told).toMatchObject({ calls: ['round', `close ${end}`], warnings });
    expect(turns).toBe(end === 'stopped' ? 2 : 1);
  });

  test('is superseded when the server changes', async () => {
    const { loop } = start({ first: begin });
    loop.supersede();
    expect(await loop.ended).toEqual({ kind: 'superseded' });
  });

  test('gives its work the grace period of a stop', async () => {
    const first = (loop: LeasedLoop): void => {
      begin(loop);
      void loop.stop(0);
    };
    const windDown = async (loop: LeasedLoop): Promise<void> => {
      await loop.wakeUp.wait(60_000);
      if (loop.signal.aborted) loop.finish({ kind: 'stopped' });
    };
    const { loop } = start({ first, work: (each) => ({ windDown: () => windDown(each) }) });
    expect(await loop.ended).toEqual({ kind: 'stopped' });
  });
});

test('The grace period of the first stop counts', async () => {
  const graces: unknown[] = [];
  const close = async (_end: RunEnd, graceMs?: number): Promise<void> => void graces.push(graceMs);
  const { loop } = start({ work: ({ wakeUp }) => ({ windDown: () => wakeUp.wait(60_000), close }) });
  void loop.stop(60_000);
  void loop.stop(120_000);
  loop.finish({ kind: 'stopped' });
  await loop.ended;
  expect(graces).toEqual([60_000]);
});

test('Work of a superseded run is aborted after a grace period', async () => {
  const delays = new Set<number>();
  const restore = useTime({
    setTimeout: (work, ms) => {
      delays.add(ms);
      return setTimeout(work, 1);
    },
  });
  try {
    const { loop } = start({
      first: supersede,
      work: (loop) => ({
        windDown: async () => {
          await loop.wakeUp.wait(60_000);
          if (loop.signal.aborted) loop.finish({ kind: 'superseded' });
        },
      }),
    });
    expect(await loop.ended).toEqual({ kind: 'superseded' });
    expect(delays).toContain(SUPERSEDED_GRACE_MS);
  } finally {
    restore();
  }
});

describe('Waiting', () => {
  test('ends with a wake-up, which notifies the work; a pause ends with the run', async () => {
    const woken: RunEnd['kind'][] = [];
    const { loop } = start({
      work: (loop) => ({
        woken: () => void woken.push('finished'),
        round: async () => {
          await loop.wakeUp.wait(60_000);
          if (woken.length > 0) await loop.pause(60_000);
        },
      }),
    });
    loop.wake();
    await new Promise((resolve) => setTimeout(resolve, 5));
    loop.wake();
    expect(loop.state).toBe('working');
    await loop.stop(60_000);
    expect(woken).toHaveLength(2);
    expect(await loop.ended).toEqual({ kind: 'stopped' });
  });

  test('ends without its round if the round ignores the signal for longer than allowed', async () => {
    const { loop } = start({ work: () => ({ giveUpMs: 1, round: () => new Promise(() => {}) }) });
    await loop.stop(1);
    expect(await loop.ended).toEqual({ kind: 'lost' });
  });
});
