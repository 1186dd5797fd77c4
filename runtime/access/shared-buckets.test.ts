import { beforeEach, describe, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { TooManyRequestsError } from '../errors.js';
import { RequestLimits } from './request-limits.js';
import type { TokenGrant, TokenRequest, TokenStore } from './shared-buckets.js';

let nowMs = 0;

beforeEach(() => {
  nowMs = 1_000;
  return useTime({ nowMs: () => nowMs });
});

/** A store that counts its calls and answers them on request. */
class SlowStore implements TokenStore {
  readonly asked: (readonly TokenRequest[])[] = [];
  readonly #answers: {
    readonly grant: (grants: readonly TokenGrant[]) => void;
    readonly fail: (error: Error) => void;
  }[] = [];

  take(requests: readonly TokenRequest[]): Promise<readonly TokenGrant[]> {
    this.asked.push(requests);
    return new Promise((grant, fail) => this.#answers.push({ grant, fail }));
  }

  /** Grants all requests, or the given tokens. */
  async grant(
    give: (request: TokenRequest) => TokenGrant = ({ tokens }) => ({ tokens, waitMs: 0 }),
  ): Promise<void> {
    const requests = this.asked.at(-1) ?? [];
    this.#answers.shift()?.grant(requests.map(give));
    await turn();
  }

  async fail(): Promise<void> {
    this.#answers.shift()?.fail(new Error('out of reach'));
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Counts requests by outcome. */
function enter(limits: RequestLimits, count: number, principal = 'ana') {
  const outcomes = { ok: 0, tooMany: 0 };
  const fail = (error: unknown): void => {
    if (error instanceof TooManyRequestsError) outcomes.tooMany += 1;
    else throw error;
  };
  for (let index = 0; index < count; index += 1) {
    try {
      const entered = limits.enter(principal, 'Get');
      if (entered instanceof Promise) entered.then(() => (outcomes.ok += 1), fail);
      else outcomes.ok += 1;
    } catch (error) {
      fail(error);
    }
  }
  return outcomes;
}

const limitsOf = (store: TokenStore): RequestLimits =>
  new RequestLimits({ requestsPerSecond: 1_000, burst: 200, shared: true }, store);

describe('shared limits', () => {
  test('take tokens for many requests and callers in one statement at a time', async () => {
    const store = new SlowStore();
    const limits = limitsOf(store);
    const [ana, bob, eve] = [enter(limits, 5), enter(limits, 3, 'bob'), enter(limits, 1, 'eve')];
    expect(store.asked).toHaveLength(1);
    await store.grant();
    // The first statement was for one request of ana; the second one is for all others.
    expect(store.asked[1]).toEqual([
      { principal: 'ana', route: 'Get', tokens: 4 },
      { principal: 'bob', route: 'Get', tokens: 3 },
      { principal: 'eve', route: 'Get', tokens: 1 },
    ]);
    await store.grant();
    expect([ana.ok, bob.ok, eve.ok]).toEqual([5, 3, 1]);
  });

  test('refuse without a statement until the next token is available', async () => {
    const store = new SlowStore();
    const limits = limitsOf(store);
    const first = enter(limits, 300);
    await store.grant(() => ({ tokens: 0, waitMs: 500 }));
    expect(first.tooMany).toBe(300);
    const asked = store.asked.length;
    expect(() => limits.enter('ana', 'Get')).toThrow(expect.objectContaining({ retryAfterMs: 500 }));
    expect(enter(limits, 1_000).tooMany).toBe(1_000);
    expect(store.asked).toHaveLength(asked);
    nowMs += 500;
    const later = enter(limits, 1);
    await store.grant();
    expect(later.ok).toBe(1);
  });

  test('count in each process alone while the store is unreachable, and let no request wait for it twice', async () => {
    const store = new SlowStore();
    const limits = limitsOf(store);
    const first = enter(limits, 150);
    await store.fail();
    expect(first).toEqual({ ok: 150, tooMany: 0 });
    expect(enter(limits, 100)).toEqual({ ok: 50, tooMany: 50 });
    expect(store.asked).toHaveLength(1);
    nowMs += 1_000;
    // One request triggers the query, and is answered before the store answers.
    expect(enter(limits, 10)).toEqual({ ok: 10, tooMany: 0 });
    expect(store.asked).toHaveLength(2);
    await store.grant();
    nowMs += 1_000;
    enter(limits, 1);
    expect(store.asked).toHaveLength(3);
  });

  test('release the slot of a request that was refused after a wait', async () => {
    const store = new SlowStore();
    const limits = new RequestLimits({ requestsPerSecond: 10, concurrentRequests: 2, shared: true }, store);
    const first = enter(limits, 3);
    expect(first.tooMany).toBe(1);
    await store.grant(() => ({ tokens: 0, waitMs: 100 }));
    expect(first.tooMany).toBe(3);
    nowMs += 100;
    const second = enter(limits, 2);
    await store.grant(() => ({ tokens: 2, waitMs: 0 }));
    await store.grant();
    expect(second.ok).toBe(2);
  });
});
