import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TooManyRequestsError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { RequestLimits } from './request-limits.js';
import { sqlTokenStore } from './shared-buckets.js';

/** So slow that no second token becomes available during a test. */
const SLOW = { requestsPerSecond: 0.001, burst: 20, shared: true } as const;

/** So long that a busy machine does not look like an unreachable shard. */
const PATIENT = { timeoutMs: 60_000 };

describeOnEachAdapter('Shared limits', (harness) => {
  let registry: DatabaseRegistry;

  beforeEach(async () => {
    registry = await harness.makeShards();
  });

  /** Behaves as another process: shares only the database. */
  const process = (limits: ConstructorParameters<typeof RequestLimits>[0] = SLOW): RequestLimits =>
    new RequestLimits(limits, sqlTokenStore(registry, PATIENT));

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

  test('admit a caller as often in two processes as in one, and refill tokens over time', async () => {
    const [one, other] = [process(), process()];
    const counts = await Promise.all([accepted(one, 30), accepted(other, 30), accepted(one, 5, 'bob')]);
    expect(counts[0] + counts[1]).toBe(20);
    expect(counts[2]).toBe(5);
    const refused = await Promise.resolve(process().enter('ana', 'Get')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TooManyRequestsError);
    const { retryAfterMs } = refused as TooManyRequestsError;
    expect(retryAfterMs).toBeGreaterThan(500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(1_000_000);
    // 5.5 tokens of 1,000 seconds each.
    await query(`update eventlog.request_limits set full_date = full_date - interval '5500 seconds'`);
    expect(await accepted(process(), 30)).toBe(5);
    await query(`update eventlog.request_limits set full_date = full_date - interval '1 year'`);
    expect(await accepted(process(), 30)).toBe(20);
  });

  test('accept any characters in names and changed limits, and delete the rows of full buckets', async () => {
    const name = `o'Brien "\\ \u{1F642} {},`;
    expect(await accepted(process(), 30, name)).toBe(20);
    // A bucket that is empty under the old limits is exactly empty under the new ones.
    const faster = { requestsPerSecond: 0.01, burst: 10, shared: true } as const;
    // 100 s until the next token, less what a slow machine has taken for the calls; under the old limits it is 1,000 s.
    await expect(process(faster).enter(name, 'Get')).rejects.toSatisfy(
      ({ retryAfterMs }: TooManyRequestsError) => retryAfterMs > 50_000 && retryAfterMs <= 100_000,
    );
    await accepted(process(), 1, 'bob');
    await query(
      `update eventlog.request_limits set full_date = now() - interval '1 s' where principal = 'bob'`,
    );
    const store = sqlTokenStore(registry, { ...PATIENT, purgeEveryMs: 0 });
    await store.take([{ principal: 'eve', route: 'Get', tokens: 1 }], { rate: 0.001, burst: 20 });
    await expect
      .poll(async () => (await query('select principal from eventlog.request_limits order by 1')).rows, {
        timeout: 30_000,
      })
      .toEqual([['eve'], [name]]);
  });
});
