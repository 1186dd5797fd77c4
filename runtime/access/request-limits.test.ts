import { beforeEach, describe, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { TooManyRequestsError, ValidationError } from '../errors.js';
import { type EndRequest, RequestLimits } from './request-limits.js';

let nowMs = 0;

beforeEach(() => {
  nowMs = 1_000;
  return useTime({ nowMs: () => nowMs });
});

/** Limits of a single process need no wait. */
function enter(limits: RequestLimits, principal: string, route: string): EndRequest {
  const entered = limits.enter(principal, route);
  if (entered instanceof Promise) throw new TypeError('A request has waited');
  return entered;
}

/** The number of accepted requests out of `count`. */
function taken(limits: RequestLimits, count: number, principal = 'ana', route = 'Get'): number {
  let ok = 0;
  for (let index = 0; index < count; index += 1) {
    try {
      enter(limits, principal, route)();
      ok += 1;
    } catch (error) {
      if (!(error instanceof TooManyRequestsError)) throw error;
    }
  }
  return ok;
}

describe('requests per second', () => {
  test('are taken at once up to the burst, and then as fast as the rate', () => {
    const limits = new RequestLimits({ requestsPerSecond: 10, burst: 20 });
    expect(taken(limits, 100)).toBe(20);
    nowMs += 500;
    expect(taken(limits, 100)).toBe(5);
    nowMs += 3_600_000;
    expect(taken(limits, 100)).toBe(20);
  });

  test('are counted per principal and route', () => {
    const limits = new RequestLimits({ requestsPerSecond: 5 });
    expect(taken(limits, 10)).toBe(5);
    expect(taken(limits, 10, 'ana', 'List')).toBe(5);
    expect(taken(limits, 10, 'bob')).toBe(5);
  });

  test('state when the next request will be accepted', () => {
    const limits = new RequestLimits({ requestsPerSecond: 2, burst: 1 });
    taken(limits, 1);
    nowMs += 100;
    expect(() => limits.enter('ana', 'Get')).toThrow(expect.objectContaining({ retryAfterMs: 400 }));
    const wide = new RequestLimits({ requestsPerSecond: 1, burst: 5 });
    taken(wide, 4);
    expect(wide.headers('ana', 'Get')).toMatchObject({ ratelimit: '"caller";r=1;t=4' });
    taken(wide, 1);
    expect(wide.headers('ana', 'Get')).toMatchObject({ ratelimit: '"caller";r=0;t=1' });
  });
});

test.each([
  [{ requestsPerSecond: Number.NaN }, 'callerLimits.requestsPerSecond must be a positive number, got NaN'],
  [{ requestsPerSecond: 5, burst: 0 }, 'callerLimits.burst must be a positive number, got 0'],
  [{ concurrentRequests: -1 }, 'callerLimits.concurrentRequests must be a positive number, got -1'],
])('a limit that would refuse no request, or each, is refused: %j', (limits, message) => {
  expect(() => new RequestLimits(limits)).toThrow(new ValidationError(message));
});

test('concurrent requests are accepted again when one is answered', () => {
  const limits = new RequestLimits({ concurrentRequests: 2 });
  const leave = enter(limits, 'ana', 'Get');
  limits.enter('ana', 'List');
  expect(() => limits.enter('ana', 'Get')).toThrow(TooManyRequestsError);
  expect(taken(limits, 1, 'bob')).toBe(1);
  leave();
  expect(taken(limits, 3)).toBe(3);
});
