import { beforeEach, describe, expect, it } from 'vitest';
import { Admission, NO_SHARD } from './admission.js';
import type { Ticket } from './gate.js';

/** A clock that the test advances. */
class Clock {
  #nowMs = 0;
  #work: { readonly at: number; readonly run: () => void }[] = [];
  readonly nowMs = (): number => this.#nowMs;
  readonly later = (run: () => void, ms: number): void => {
    this.#work.push({ at: this.#nowMs + ms, run });
  };

  pass(ms: number): void {
    const end = this.#nowMs + ms;
    for (;;) {
      const next = this.#work.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.#work = this.#work.filter((work) => work !== next);
      this.#nowMs = Math.max(this.#nowMs, next.at);
      next.run();
    }
    this.#nowMs = end;
  }

  /** Blocks the event loop for `ms`; due timers run afterwards. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }
}

/** One request as a test follows it. */
class Request {
  state: 'waiting' | 'admitted' | 'refused' = 'waiting';
  returnMs = 0;
  ticket: Ticket | undefined;
  isGone = false;

  admitted(ticket: Ticket): void {
    this.state = 'admitted';
    this.ticket = ticket;
  }

  refused(returnMs: number): void {
    this.state = 'refused';
    this.returnMs = returnMs;
  }
}

let clock: Clock;
let admission: Admission;

beforeEach(() => {
  clock = new Clock();
  admission = new Admission(clock);
});

function enter(shard: number, count = 1): Request[] {
  return Array.from({ length: count }, () => {
    const request = new Request();
    admission.enter(shard, request);
    return request;
  });
}

const statesOf = (requests: readonly Request[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { state } of requests) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};

describe('Admission', () => {
  it('admits up to its limit, lets as many wait and refuses the rest at once', () => {
    const requests = enter(0, 600);
    expect(statesOf(requests)).toEqual({ admitted: 256, waiting: 256, refused: 88 });
    expect(admission.isFull(0)).toBe(true);
    clock.pass(1_000);
    expect(statesOf(requests)).toEqual({ admitted: 256, refused: 344 });
    expect(admission.statistics).toMatchObject({ inFlight: 256, waiting: 0, refused: 344 });
    expect(admission.isFull(0)).toBe(false);
  });

  it('serves all of a burst that ends soon, the oldest first', () => {
    const burst = enter(0, 500);
    const [first, last] = [burst[256], burst[499]];
    burst[0]?.ticket?.leave(true);
    expect([first?.state, last?.state]).toEqual(['admitted', 'waiting']);
    for (const each of burst) {
      clock.pass(0.4);
      each.ticket?.leave(true);
    }
    expect(statesOf(burst)).toEqual({ admitted: 500 });
  });

  it('keeps a burst that has waited while the process did nothing at all, and no longer than otherwise', () => {
    const burst = enter(0, 500);
    clock.stall(3_000);
    clock.pass(5);
    expect(statesOf(burst)).toEqual({ admitted: 256, waiting: 244 });
    for (const each of burst.slice(0, 100)) each.ticket?.leave(false);
    clock.pass(600);
    expect(statesOf(burst)).toEqual({ admitted: 356, refused: 144 });
  });

  it('says when a place is free that no request waits for', () => {
    const free: number[] = [];
    admission.whenFree = (shard) => void free.push(shard);
    const running = enter(3, 257);
    expect(admission.freePlaces(3)).toBe(0);
    running[0]?.ticket?.leave(false);
    expect([free, admission.freePlaces(3)]).toEqual([[], 0]);
    running[1]?.ticket?.leave(false);
    expect([free, admission.freePlaces(3)]).toEqual([[3], 1]);
  });

  it('serves the newest first while the queue does not empty, and refuses the others soon', () => {
    const running = enter(0, 256);
    const [promised] = enter(0, 1);
    clock.pass(260);
    const [older, newest] = enter(0, 2);
    // A burst keeps its places.
    running[0]?.ticket?.leave(false);
    expect([promised, older, newest].map((each) => each?.state)).toEqual(['admitted', 'waiting', 'waiting']);
    running[1]?.ticket?.leave(false);
    expect([older?.state, newest?.state]).toEqual(['waiting', 'admitted']);
    clock.pass(20);
    expect(older?.state).toBe('refused');
  });

  it('refuses at the head of a request what would only wait to be refused', () => {
    enter(0, 256);
    enter(0, 32);
    expect(admission.isFull(0)).toBe(false);
    clock.pass(260);
    expect(admission.isFull(0)).toBe(true);
  });

  it('keeps a shard that hangs from taking the places of the others', () => {
    // The hung shard's requests end at their deadlines: its limit falls, and that of all does not fall with it.
    for (let round = 0; round < 20; round += 1) {
      for (const request of enter(0, 20)) request.ticket?.leave(true);
      const hung = enter(1, 500);
      clock.pass(1_800);
      for (const request of hung) request.ticket?.leave(true);
    }
    enter(1, 500);
    const { gates } = admission.statistics;
    expect(gates.find(({ shard }) => shard === 1)).toMatchObject({ limit: 128, inFlight: 128 });
    expect(statesOf(enter(0, 20))).toEqual({ admitted: 20 });
  });

  it('tolerates a mean latency of 90 ms', () => {
    const limits = [80, 100].map((latencyMs, shard) => {
      for (let round = 0; round < 5; round += 1) {
        const requests = enter(shard, 20);
        clock.pass(latencyMs);
        for (const { ticket } of requests) ticket?.leave(true);
      }
      return admission.statistics.gates.find((gate) => gate.shard === shard)?.limit;
    });
    expect(limits[0]).toBe(256);
    expect(limits[1]).toBeLessThan(256);
  });

  it('forgets requests whose clients have gone, and keeps each place for one', () => {
    const running = enter(NO_SHARD, 256);
    const [gone, waiting] = enter(NO_SHARD, 2);
    if (gone !== undefined) gone.isGone = true;
    const { ticket } = running[0] ?? {};
    ticket?.leave(false);
    ticket?.leave(false);
    expect([gone?.state, waiting?.state]).toEqual(['waiting', 'admitted']);
    expect(admission.statistics.inFlight).toBe(256);
  });

  it('gives no place to a request whose client has gone before: nothing would give it back', () => {
    const gone = Object.assign(new Request(), { isGone: true });
    admission.enter(1, gone);
    expect([gone.state, admission.statistics.inFlight]).toEqual(['waiting', 0]);
  });

  it('asks clients to come back at a rate that it can serve', () => {
    for (let second = 0; second < 3; second += 1) {
      for (let each = 0; each < 1_000; each += 1) for (const { ticket } of enter(0)) ticket?.leave(false);
      clock.pass(1_000);
    }
    enter(0, 512);
    const returns = enter(0, 4_000).map(({ returnMs }) => returnMs);
    // At a twentieth of 1,000 per second, and all that would come later after 15 seconds.
    expect(returns[0]).toBeLessThan(1_100);
    const byThen = (ms: number): number => returns.filter((returnMs) => returnMs <= ms).length;
    expect(byThen(11_000)).toBeGreaterThan(450);
    expect(byThen(11_000)).toBeLessThan(550);
    expect(Math.max(...returns)).toBe(15_000);
  });
});
