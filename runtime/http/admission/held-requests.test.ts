import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeldRequests } from './held-requests.js';

/** Requests that are refused at once in each second, however early. */
const AT_ONCE = 200;
const SHARD = 7;

/** A connection whose client has been refused. */
class Returning {
  returnAtMs = 0;
  isOverdue = false;
  isClosed = false;
  letsIn = 0;

  letIn(): void {
    this.letsIn += 1;
  }
}

let freePlaces: number;
let early: HeldRequests;

beforeEach(() => {
  vi.useFakeTimers();
  freePlaces = 0;
  early = new HeldRequests({
    freePlaces: () => freePlaces,
    nowMs: () => performance.now(),
    longestMs: 8_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Clients that are refused and come back at once, the first ones of the second aside. */
function comeBack(count: number, returnMs: number): readonly Returning[] {
  const refused = (): Returning => {
    const connection = new Returning();
    early.refused(connection, returnMs);
    return connection;
  };
  for (let first = 0; first < AT_ONCE; first += 1) early.holds(refused(), SHARD);
  return Array.from({ length: count }, refused).filter((connection) => early.holds(connection, SHARD));
}

const letIn = (connections: readonly Returning[]): readonly number[] =>
  connections.map(({ letsIn }) => letsIn);

describe('Clients that come back too early', () => {
  it('are held, apart from the first ones of each second, while there is no place', () => {
    expect(comeBack(3, 5_000).length).toBe(3);
    expect(early.count).toBe(3);
    freePlaces = 1;
    expect(early.holds(Object.assign(new Returning(), { returnAtMs: 9_000_000 }), SHARD)).toBe(false);
  });

  it('are let in when their time has come, and are then known as overdue', () => {
    const held = comeBack(2, 3_000);
    vi.advanceTimersByTime(2_900);
    expect(letIn(held)).toEqual([0, 0]);
    vi.advanceTimersByTime(200);
    expect(letIn(held)).toEqual([1, 1]);
    expect(held.map(({ isOverdue }) => isOverdue)).toEqual([true, true]);
    expect(early.count).toBe(0);
    const [first = new Returning()] = held;
    expect(early.holds(first, SHARD)).toBe(false);
    early.refused(first, 1_000);
    expect(first.isOverdue).toBe(false);
  });

  it('are held for eight seconds at most', () => {
    const held = comeBack(1, 15_000);
    vi.advanceTimersByTime(7_900);
    expect(letIn(held)).toEqual([0]);
    vi.advanceTimersByTime(200);
    expect(letIn(held)).toEqual([1]);
  });

  it('are let in one for each place that becomes free, the newest first, without those that have gone', () => {
    const held = comeBack(4, 5_000);
    if (held[3] !== undefined) held[3].isClosed = true;
    early.letIn(SHARD);
    expect(letIn(held)).toEqual([0, 0, 1, 0]);
    early.letIn(SHARD + 1);
    expect(letIn(held)).toEqual([0, 0, 1, 0]);
    early.letIn(SHARD);
    expect(letIn(held)).toEqual([0, 1, 1, 0]);
    expect(held[1]?.isOverdue).toBe(false);
  });

  it('are let in soon when places are free although no request has ended', () => {
    const held = comeBack(3, 5_000);
    freePlaces = 2;
    vi.advanceTimersByTime(60);
    expect(letIn(held)).toEqual([0, 1, 1]);
  });

  it('are all let in by a server that closes, and no others are held', () => {
    const held = comeBack(3, 5_000);
    early.open();
    expect(letIn(held)).toEqual([1, 1, 1]);
    const late = new Returning();
    early.refused(late, 5_000);
    expect(early.holds(late, SHARD)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('do not keep their places in memory once they have gone', () => {
    const held = comeBack(3, 5_000);
    for (const connection of held) connection.isClosed = true;
    vi.advanceTimersByTime(5_100);
    expect(early.count).toBe(0);
    expect(letIn(held)).toEqual([0, 0, 0]);
  });
});
