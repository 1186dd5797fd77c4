import { afterEach, describe, expect, it, vi } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { CircuitBreaker, LONGEST_MS, THRESHOLD } from './circuit-breaker.js';
import { DriverFailure } from './driver-failure.js';
import { publicError } from './public-error.js';

const unreachable = new DriverFailure('cannot connect', { phase: 'not-sent', reason: 'unreachable' });

/** A breaker with a clock that moves only when the test sets it. */
function breakerAt(clock: { nowMs: number }): CircuitBreaker {
  restoreTime = useTime({ nowMs: () => clock.nowMs });
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  return new CircuitBreaker();
}

let restoreTime: () => void;
afterEach(() => {
  restoreTime();
  vi.restoreAllMocks();
});

/** @returns whether the breaker let the call through */
async function call(breaker: CircuitBreaker, failure?: DriverFailure): Promise<boolean> {
  let isSent = false;
  const send = (): Promise<void> => {
    isSent = true;
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  };
  await breaker.run(send).catch(() => {});
  return isSent;
}

/** Lets through a call that does not end. */
function callSlowly(breaker: CircuitBreaker): void {
  void breaker.run(() => new Promise(() => {}));
}

async function fail(breaker: CircuitBreaker, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await call(breaker, unreachable);
}

async function opened(): Promise<{ readonly clock: { nowMs: number }; readonly breaker: CircuitBreaker }> {
  const clock = { nowMs: 0 };
  const breaker = breakerAt(clock);
  await fail(breaker, THRESHOLD);
  return { clock, breaker };
}

describe('A circuit breaker', () => {
  it('stays closed while the database is unreachable only occasionally', async () => {
    const breaker = breakerAt({ nowMs: 0 });
    for (let round = 0; round < 10; round += 1) {
      await fail(breaker, THRESHOLD - 1);
      await call(breaker);
    }
    expect(breaker.state).toBe('closed');
  });

  it('opens after consecutive failures, and then refuses at once with the time of a retry', async () => {
    const { breaker } = await opened();
    expect(breaker.state).toBe('open');
    await expect(breaker.run(() => Promise.resolve())).rejects.toMatchObject({
      phase: 'not-sent',
      reason: 'unreachable',
      retryAfterMs: 100,
    });
  });

  it('ignores callers that gave up, and calls that were lost in flight', async () => {
    const breaker = breakerAt({ nowMs: 0 });
    for (let round = 0; round < 10; round += 1) {
      await call(breaker, new DriverFailure('late', { phase: 'not-sent', reason: 'aborted' }));
      await call(breaker, new DriverFailure('lost', { phase: 'in-flight' }));
    }
    expect(breaker.state).toBe('closed');
  });

  it('closes when the server refuses a statement', async () => {
    const { clock, breaker } = await opened();
    clock.nowMs = 100;
    await call(breaker, new DriverFailure('no', { phase: 'answered', sqlState: '42P01' }));
    expect(breaker.state).toBe('closed');
  });

  it('lets one probe through when the open time is over, and closes when it succeeds', async () => {
    const { clock, breaker } = await opened();
    clock.nowMs = 100;
    const probe = call(breaker);
    expect(await call(breaker)).toBe(false);
    await probe;
    expect(breaker.state).toBe('closed');
    expect(await call(breaker)).toBe(true);
  });

  it('lets another probe through if one takes long, for example because it waits for a lock', async () => {
    const { clock, breaker } = await opened();
    clock.nowMs = 100;
    callSlowly(breaker);
    clock.nowMs += LONGEST_MS - 1;
    expect(await call(breaker)).toBe(false);
    clock.nowMs += 1;
    callSlowly(breaker);
    expect(await call(breaker)).toBe(false);
  });

  it('lets the next probe through after an inconclusive one', async () => {
    const { clock, breaker } = await opened();
    clock.nowMs = 100;
    await call(breaker, new DriverFailure('lost', { phase: 'in-flight' }));
    expect(await call(breaker)).toBe(true);
  });

  it('stays open longer after each failed probe, up to the maximum', async () => {
    const { clock, breaker } = await opened();
    const waits: number[] = [];
    for (let probe = 0; probe < 5; probe += 1) {
      const openedAt = clock.nowMs;
      while (breaker.state === 'open') clock.nowMs += 1;
      waits.push(clock.nowMs - openedAt);
      await fail(breaker, 1);
    }
    expect(waits).toEqual([100, 200, 400, 400, 400]);
  });

  it('does not stay open longer for calls that were in flight when it opened', async () => {
    const clock = { nowMs: 0 };
    const breaker = breakerAt(clock);
    await Promise.all(Array.from({ length: 2 * THRESHOLD }, () => call(breaker, unreachable)));
    clock.nowMs = 100;
    expect(breaker.state).toBe('half-open');
  });

  it('distinguishes a saturated server from a dead one', async () => {
    const breaker = breakerAt({ nowMs: 0 });
    const facts = { phase: 'not-sent', reason: 'unreachable', sqlState: '53300' } as const;
    const saturated = new DriverFailure('too many clients', facts);
    for (let time = 0; time < 3; time += 1) await call(breaker, saturated);
    const refusal = await breaker.run(() => Promise.resolve()).catch((error: DriverFailure) => error);
    expect(publicError(refusal as DriverFailure, ShardIdentifier.of(0, 0))).toMatchObject({
      code: 'FW_SHARD_BUSY',
      retryAfterMs: 100,
    });
  });
});
