import { beforeEach, describe, expect, it } from 'vitest';
import { Admission, NO_SHARD } from './admission.js';
import type { Ticket } from './gate.js';

/** Time that passes when the test says so. */
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
      this.#nowMs = next.at;
      next.run();
    }
    this.#nowMs = end;
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
  it('admits up to its limit, lets a quarter wait for a moment and refuses the rest at once', () => {
    const requests = enter(0, 200);
    expect(statesOf(requests)).toEqual({ admitted: 64, waiting: 16, refused: 120 });
    expect(admission.isFull(0)).toBe(true);
    clock.pass(35);
    expect(statesOf(requests)).toEqual({ admitted: 64, refused: 136 });
    expect(admission.statistics).toMatchObject({ inFlight: 64, waiting: 0, refused: 136 });
    expect(admission.isFull(0)).toBe(false);
  });

  it('serves the oldest first, and the newest first once the oldest is overdue', () => {
    const running = enter(0, 64);
    const [first, second] = enter(0, 2);
    running[0]?.ticket?.leave(false);
    expect([first?.state, second?.state]).toEqual(['admitted', 'waiting']);
    clock.pass(12);
    const [third] = enter(0, 1);
    running[1]?.ticket?.leave(false);
    expect([second?.state, third?.state]).toEqual(['waiting', 'admitted']);
  });

  it('refuses the overdue one instead of the newest when too many wait', () => {
    enter(0, 64);
    const waiting = enter(0, 16);
    clock.pass(12);
    const [newest] = enter(0, 1);
    expect(newest?.state).toBe('waiting');
    expect(waiting[0]?.state).toBe('refused');
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
    expect(gates.find(({ shard }) => shard === 1)).toMatchObject({ limit: 32, inFlight: 32 });
    expect(statesOf(enter(0, 20))).toEqual({ admitted: 20 });
  });

  it('forgets requests whose clients have gone, and keeps each place for one', () => {
    const running = enter(NO_SHARD, 64);
    const [gone, waiting] = enter(NO_SHARD, 2);
    if (gone !== undefined) gone.isGone = true;
    const { ticket } = running[0] ?? {};
    ticket?.leave(false);
    ticket?.leave(false);
    expect([gone?.state, waiting?.state]).toEqual(['waiting', 'admitted']);
    expect(admission.statistics.inFlight).toBe(64);
  });

  it('asks clients to come back at a rate that it can serve', () => {
    for (let second = 0; second < 3; second += 1) {
      for (let each = 0; each < 1_000; each += 1) for (const { ticket } of enter(0)) ticket?.leave(false);
      clock.pass(1_000);
    }
    enter(0, 80);
    const returns = enter(0, 4_000).map(({ returnMs }) => returnMs);
    // 4,000 of them at a quarter of 1,000 per second.
    expect(returns[0]).toBeLessThan(1_100);
    expect(Math.max(...returns)).toBeGreaterThan(8_000);
    expect(Math.max(...returns)).toBeLessThanOrEqual(15_000);
  });
});
