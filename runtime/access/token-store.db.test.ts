import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TooManyRequestsError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { RequestLimits } from './request-limits.js';
import { SqlTokenStore } from './token-store.js';

/** So slow that a test sees no second token. */
const SLOW = { requestsPerSecond: 0.001, burst: 20, shared: 'strict' } as const;

describeOnEachAdapter('Shared limits', (harness) => {
  let registry: DatabaseRegistry;

  beforeEach(async () => {
    registry = await harness.makeShards();
  });

  /** Shares nothing but the database with others, as a process does. */
  const process = (limits: ConstructorParameters<typeof RequestLimits>[0] = SLOW): RequestLimits =>
    new RequestLimits(limits, new SqlTokenStore(registry));

  async function accepted(limits: RequestLimits, count: number, principal = 'ana'): Promise<number> {
    const outcomes = await Promise.all(
      Array.from({ length: count }, async () => {
        try {
          await limits.enter(principal, 'Get');
          return true;
        } catch (error) {
          if (error instanceof TooManyRequestsError) return false;
          throw error;
        }
      }),
    );
    return outcomes.filter(Boolean).length;
  }

  const query = (text: string): Promise<{ readonly rows: readonly (readonly unknown[])[] }> =>
    registry.database(registry.defaultShard).query({ text, values: [] });

  test('let a caller through as often in two processes as in one, and no other caller pays for it', async () => {
    const [one, other] = [process(), process()];
    const counts = await Promise.all([accepted(one, 30), accepted(other, 30), accepted(one, 5, 'bob')]);
    expect(counts[0] + counts[1]).toBe(20);
    expect(counts[2]).toBe(5);
    expect(await accepted(process(), 1)).toBe(0);
  });

  test('give tokens back as time passes, as many as the burst at most', async () => {
    expect(await accepted(process(), 30)).toBe(20);
    // 5.5 tokens of 1,000 seconds each.
    await query(`update eventlog.request_limits set full_date = full_date - interval '5500 seconds'`);
    expect(await accepted(process(), 30)).toBe(5);
    await query(`update eventlog.request_limits set full_date = full_date - interval '1 year'`);
    expect(await accepted(process(), 30)).toBe(20);
  });

  test('say when the next token is there', async () => {
    expect(await accepted(process(), 20)).toBe(20);
    const refused = process().enter('ana', 'Get');
    await expect(refused).rejects.toThrow(TooManyRequestsError);
    const { retryAfterMs } = (await Promise.resolve(refused).catch(
      (error: unknown) => error,
    )) as TooManyRequestsError;
    expect(retryAfterMs).toBeGreaterThan(900_000);
    expect(retryAfterMs).toBeLessThanOrEqual(1_000_000);
  });

  test('hold for names of any characters, and forget no debt when they are changed', async () => {
    const name = `o'Brien "\\ \u{1F642} {},`;
    expect(await accepted(process(), 30, name)).toBe(20);
    // An empty bucket of the old limits is empty by the new ones, and full as soon as they say.
    const fast = { requestsPerSecond: 10, burst: 10, shared: 'strict' } as const;
    await expect(process(fast).enter(name, 'Get')).rejects.toThrow(
      expect.objectContaining({ retryAfterMs: 100 }),
    );
  });

  test('keep no row of a bucket that is full', async () => {
    await accepted(process(), 1, 'ana');
    await accepted(process(), 1, 'bob');
    await query(
      `update eventlog.request_limits set full_date = now() - interval '1 s' where principal = 'bob'`,
    );
    const store = new SqlTokenStore(registry, { purgeEveryMs: 0 });
    await store.take([{ principal: 'eve', route: 'Get', tokens: 1 }], { rate: 0.001, burst: 20 });
    await expect
      .poll(async () => (await query('select principal from eventlog.request_limits order by 1')).rows, {
        timeout: 30_000,
      })
      .toEqual([['ana'], ['eve']]);
  });

  test('count in the process alone, or refuse, when the shard is out of reach', async () => {
    await registry.close(0);
    expect(await accepted(process({ ...SLOW, shared: 'lenient' }), 30)).toBe(20);
    await expect(process().enter('ana', 'Get')).rejects.toThrow('cannot be counted');
  });
});
