import { describe, expect, it } from 'vitest';
import { LatencyLimit } from './latency-limit.js';

const OPTIONS = {
  initial: 64,
  minimum: 32,
  maximum: 1_000,
  toleratedMs: 120,
  longestMs: 600,
  windowMs: 100,
  leastSamples: 10,
};

let nowMs = 0;

/**
 * A server with a fixed capacity under more clients than it may serve: latency follows from Little's law, as long as it
 * is not less than that of a single request.
 */
function settle(
  capacityPerSecond: number,
  { aloneMs = 2, offered = 100_000 }: { readonly aloneMs?: number; readonly offered?: number } = {},
  limit: LatencyLimit = new LatencyLimit(OPTIONS),
): LatencyLimit {
  for (let window = 0; window < 300; window += 1) {
    const inFlight = Math.min(limit.limit, offered);
    const latencyMs = Math.max(aloneMs, (inFlight / capacityPerSecond) * 1_000);
    const perSecond = (inFlight / latencyMs) * 1_000;
    const count = Math.max(10, Math.round(perSecond / 10));
    for (let sample = 0; sample < count; sample += 1) {
      nowMs += 1_000 / perSecond;
      limit.record(latencyMs, inFlight, nowMs);
    }
  }
  return limit;
}

describe('A limit found by latency', () => {
  it.each([500, 2_000, 6_000])('settles near capacity x tolerated latency: %i per second', (capacity) => {
    const { limit } = settle(capacity);
    const expected = Math.max(32, capacity * 0.12);
    expect(limit).toBeGreaterThanOrEqual(expected * 0.6);
    expect(limit).toBeLessThanOrEqual(expected * 1.4);
  });

  it('follows a capacity that falls, and one that comes back', () => {
    const limit = settle(6_000);
    const before = limit.limit;
    settle(600, {}, limit);
    expect(limit.limit).toBeLessThan(before / 4);
    settle(6_000, {}, limit);
    expect(limit.limit).toBeGreaterThan(before * 0.6);
  });

  it('is not lowered by a far database, whose latency is the same whatever is under way', () => {
    expect(settle(100_000, { aloneMs: 200 }).limit).toBe(1_000);
  });

  it('stays at its minimum for a database that does not answer', () => {
    expect(settle(100_000, { aloneMs: 1_800 }).limit).toBe(32);
  });

  it('is not raised beyond what is used', () => {
    expect(settle(100_000, { offered: 40 }).limit).toBe(64);
  });

  it('does not fall below its minimum for one stall of the process', () => {
    const limit = new LatencyLimit(OPTIONS);
    for (let sample = 0; sample < 64; sample += 1) limit.record(3_000, 64, 3_000);
    expect(limit.limit).toBeGreaterThanOrEqual(40);
  });
});
