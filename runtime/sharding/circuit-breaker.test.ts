import { describe, expect, it } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { BREAKER_DEFAULTS, CircuitBreaker } from './circuit-breaker.js';
import { DriverFailure } from './driver-failure.js';
import { publicError } from './public-error.js';

const unreachable = new DriverFailure('cannot connect', { phase: 'not-sent', reason: 'unreachable' });

/** A breaker with a clock that moves only when the test sets it. */
function breakerAt(clock: { nowMs: number }): CircuitBreaker {
  return new CircuitBreaker({ ...BREAKER_DEFAULTS, nowMs: () => clock.nowMs, random: () => 0.999 });
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let time = 0; time < times; time += 1) {
    breaker.enter();
    breaker.leave('unreachable', unreachable);
  }
}

describe('A circuit breaker', () => {
  it('stays closed while the database is unreachable only occasionally', () => {
    const breaker = breakerAt({ nowMs: 0 });
    for (let round = 0; round < 10; round += 1) {
      fail(breaker, BREAKER_DEFAULTS.threshold - 1);
      breaker.enter();
      breaker.leave('reached');
    }
    expect(breaker.state).toBe('closed');
  });

  it('opens after consecutive failures, and then refuses at once with the time of a retry', () => {
    const breaker = breakerAt({ nowMs: 0 });
    fail(breaker, BREAKER_DEFAULTS.threshold);
    expect(breaker.state).toBe('open');
    expect(() => breaker.enter()).toThrow(
      expect.objectContaining({ phase: 'not-sent', reason: 'unreachable', retryAfterMs: 100 }),
    );
  });

  it('ignores callers that gave up', () => {
    const breaker = breakerAt({ nowMs: 0 });
    for (let round = 0; round < 10; round += 1) breaker.leave('inconclusive');
    expect(breaker.state).toBe('closed');
  });

  it('lets one probe through when the open time is over, and closes when it succeeds', () => {
    const clock = { nowMs: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, BREAKER_DEFAULTS.threshold);
    clock.nowMs = 100;
    breaker.enter();
    expect(() => breaker.enter()).toThrow(DriverFailure);
    breaker.leave('reached');
    expect(breaker.state).toBe('closed');
    breaker.enter();
  });

  it('lets another probe through if one takes long, for example because it waits for a lock', () => {
    const clock = { nowMs: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, BREAKER_DEFAULTS.threshold);
    clock.nowMs = 100;
    breaker.enter();
    clock.nowMs += BREAKER_DEFAULTS.longestMs - 1;
    expect(() => breaker.enter()).toThrow(DriverFailure);
    clock.nowMs += 1;
    breaker.enter();
    expect(() => breaker.enter()).toThrow(DriverFailure);
    breaker.leave('reached');
    breaker.enter();
  });

  it('lets the next probe through after an inconclusive one', () => {
    const clock = { nowMs: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, BREAKER_DEFAULTS.threshold);
    clock.nowMs = 100;
    breaker.enter();
    breaker.leave('inconclusive');
    breaker.enter();
  });

  it('stays open longer after each failed probe, up to the maximum', () => {
    const clock = { nowMs: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, BREAKER_DEFAULTS.threshold);
    const waits: number[] = [];
    for (let probe = 0; probe < 5; probe += 1) {
      const openedAt = clock.nowMs;
      while (breaker.state === 'open') clock.nowMs += 1;
      waits.push(clock.nowMs - openedAt);
      fail(breaker, 1);
    }
    expect(waits).toEqual([100, 200, 400, 400, 400]);
  });

  it('distinguishes a saturated server from a dead one', () => {
    const breaker = breakerAt({ nowMs: 0 });
    const saturated = new DriverFailure('too many clients', {
      phase: 'not-sent',
      reason: 'unreachable',
      sqlState: '53300',
    });
    for (let time = 0; time < 3; time += 1) breaker.leave('unreachable', saturated);
    expect(refusalOf(breaker)).toMatchObject({ code: 'FW_SHARD_BUSY', retryAfterMs: 100 });
  });
});

function refusalOf(breaker: CircuitBreaker): unknown {
  try {
    breaker.enter();
    return undefined;
  } catch (error) {
    return error instanceof DriverFailure ? publicError(error, ShardIdentifier.of(0, 0)) : error;
  }
}
