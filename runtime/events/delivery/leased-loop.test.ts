import { describe, expect, test } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import { useTime } from '../../concurrency/time.js';
import { EventEpochError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { LeasedLoop, type LeasedWork, type RunEnd, SUPERSEDED_GRACE_MS } from './leased-loop.js';

interface Given {
  /** The lease has expired before the first round. */
  readonly expired?: boolean;
  readonly work?: Partial<LeasedWork>;
  /** Called in the first round. Default: no effect. */
  readonly first?: (loop: LeasedLoop) => void;
}

interface Told {
  readonly loop: LeasedLoop;
  readonly calls: string[];
  readonly warnings: string[];
}

/** A run whose second round ends it as `finished`, so that each case shows what prevents that round. */
function start({ expired = false, work = {}, first = () => {} }: Given): Told {
  const calls: string[] = [];
  const warnings: string[] = [];
  const lease = new HeldLease(
    { name: 'Mirror', holder: 'process', fence: '1' },
    performance.now() - (expired ? 120_000 : 0),
    60_000,
  );
  const made = (loop: LeasedLoop): LeasedWork => ({
    failurePauseMs: 1,
    round: async () => {
      await Promise.resolve();
      calls.push('round');
      if (calls.filter((call) => call === 'round').length > 1) loop.finish({ kind: 'finished' });
      else first(loop);
    },
    close: async ({ kind }) => void calls.push(`close ${kind}`),
    ...work,
  });
  const loop = new LeasedLoop(lease, made, (message) => void warnings.push(message));
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
  test('works in rounds until its work finishes it, and closes once', async () => {
    const { loop, calls } = start({});
    expect(await loop.ended).toEqual({ kind: 'finished' });
    expect(calls).toEqual(['round', 'round', 'close finished']);
    expect(loop.state).toBe('ended');
    expect(loop.signal.aborted).toBe(true);
  });

  test('keeps the first reason to end', async () => {
    const { loop } = start({
      first: (each) => {
        each.finish({ kind: 'waiting', reason: 'first' });
        each.finish({ kind: 'lost' });
      },
    });
    expect(await loop.ended).toEqual({ kind: 'waiting', reason: 'first' });
  });

  test('starts no round after its lease has expired', async () => {
    const { loop, calls } = start({ expired: true });
    expect(await loop.ended).toEqual({ kind: 'lost' });
    expect(calls).toEqual(['close lost']);
    expect(loop.mayWork).toBe(false);
  });

  test('ends between two rounds when its lease is lost', async () => {
    const { loop, calls } = start({ first: ({ lease }) => lease.lost() });
    expect(await loop.ended).toEqual({ kind: 'lost' });
    expect(calls).toEqual(['round', 'close lost']);
  });

  test('continues if its work regains the lease', async () => {
    let regain = (): void => {};
    const { loop, calls } = start({
      expired: true,
      work: { regain: () => Promise.resolve().then(() => regain()) },
    });
    regain = () => loop.lease.renewed(performance.now());
    expect(await loop.ended).toEqual({ kind: 'finished' });
    expect(calls).toEqual(['round', 'round', 'close finished']);
  });

  test('warns of a failed round and starts another one', async () => {
    const { loop, warnings } = start({ first: fail(new Error('no answer')) });
    expect(await loop.ended).toEqual({ kind: 'finished' });
    expect(warnings).toEqual(['Mirror: no answer']);
  });

  test('warns once while rounds fail in the same way', async () => {
    const down = (message: string): DriverFailure =>
      new DriverFailure(message, { phase: 'not-sent', reason: 'unreachable' });
    const failures = [down('refused'), down('no route'), new Error('full'), undefined, new Error('full')];
    const { loop, warnings } = start({
      work: {
        round: async () => {
          if (failures.length === 0) return loop.finish({ kind: 'finished' });
          const failure = failures.shift();
          if (failure !== undefined) throw failure;
        },
      },
    });
    expect(await loop.ended).toEqual({ kind: 'finished' });
    expect(warnings).toEqual(['Mirror: refused', 'Mirror: full', 'Mirror: full']);
  });

  test.each([
    ['closed database', closed, { kind: 'lost' }],
    ['restored server', restored, { kind: 'waiting', reason: restored.message }],
  ])('ends without a warning on a %s', async (_, error, end) => {
    const { loop, warnings } = start({ first: fail(error) });
    expect(await loop.ended).toEqual(end);
    expect(warnings).toEqual([]);
  });
});

describe.each([
  ['stopped', stop],
  ['superseded', supersede],
] as const)('A %s run', (kind, begin) => {
  test('ends after its round if nothing else is in progress, even without a lease', async () => {
    const { loop, calls } = start({
      first: (each) => {
        begin(each);
        each.lease.lost();
      },
    });
    expect(await loop.ended).toEqual({ kind });
    expect(calls).toEqual(['round', `close ${kind}`]);
  });

  /** Work that winds down, with what happens at its first call. */
  const winding = (then: (loop: LeasedLoop) => void): Told => {
    let turns = 0;
    const told = start({
      first: begin,
      work: {
        windDown: async () => {
          await Promise.resolve();
          turns += 1;
          told.calls.push('wind down');
          if (turns === 1) then(told.loop);
          else told.loop.finish({ kind: 'stopped' });
        },
      },
    });
    return told;
  };

  test('winds down until its work finishes it', async () => {
    const { loop, calls } = winding(
      ({ state, mayWork }) => void expect([state, mayWork]).toEqual([kind, false]),
    );
    expect(await loop.ended).toEqual({ kind: 'stopped' });
    expect(calls).toEqual(['round', 'wind down', 'wind down', 'close stopped']);
  });

  test('ends when its lease is lost meanwhile', async () => {
    expect(await winding(({ lease }) => lease.lost()).loop.ended).toEqual({ kind: 'lost' });
  });

  test('retries after a failure only under its lease', async () => {
    const kept = winding(fail(new Error('no answer')));
    expect(await kept.loop.ended).toEqual({ kind: 'stopped' });
    const lost = winding(({ lease }) => {
      lease.lost();
      throw new Error('no answer');
    });
    expect(await lost.loop.ended).toEqual({ kind: 'lost' });
    expect([...kept.warnings, ...lost.warnings]).toEqual(['Mirror: no answer', 'Mirror: no answer']);
  });

  test.each([
    ['a closed database', closed, 'lost'],
    ['a restored server', restored, 'waiting'],
  ])('ends on %s', async (_, error, end) => {
    expect((await winding(fail(error)).loop.ended).kind).toBe(end);
  });

  test('is superseded when the server changes', async () => {
    const { loop } = winding((each) => each.supersede());
    await loop.ended;
    const other = start({ first: begin });
    other.loop.supersede();
    expect(await other.loop.ended).toEqual({ kind: 'superseded' });
  });

  test('gives its work the grace period of a stop', async () => {
    const { loop } = winding((each) => void each.stop(0));
    await loop.ended;
    expect(loop.signal.aborted).toBe(true);
  });
});

test('The grace period of the first stop counts', async () => {
  const graces: unknown[] = [];
  const close = async (_end: RunEnd, graceMs?: number): Promise<void> => void graces.push(graceMs);
  const { loop } = start({ work: { windDown: async () => loop.wakeUp.wait(60_000), close } });
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
      work: {
        windDown: async () => {
          await loop.wakeUp.wait(60_000);
          if (loop.signal.aborted) loop.finish({ kind: 'superseded' });
        },
      },
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
      work: {
        woken: () => void woken.push('finished'),
        round: async () => {
          await Promise.resolve();
          await loop.wakeUp.wait(60_000);
          if (woken.length > 0) await loop.pause(60_000);
        },
      },
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
    const { loop } = start({ work: { giveUpMs: 1, round: () => new Promise(() => {}) } });
    await loop.stop(1);
    expect(await loop.ended).toEqual({ kind: 'lost' });
  });
});
