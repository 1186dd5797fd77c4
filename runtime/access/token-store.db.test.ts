import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { TooManyRequestsError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { RequestLimits } from './request-limits.js';
import { SqlTokenStore } from './token-store.js';

/** So slow that a test sees no second token. */
const SLOW = { requestsPerSecond: 0.001, burst: 20, shared: 'strict' } as const;

/** So long that a busy machine is not taken for a shard out of reach. */
const PATIENT = { timeoutMs: 60_000 };

describeOnEachAdapter('Shared limits', (harness) => {
  let registry: DatabaseRegistry;

  beforeEach(async () => {
    registry = await harness.makeShards();
  });

  /** Shares nothing but the database with others, as a process does. */
  const process = (limits: ConstructorParameters<typeof RequestLimits>[0] = SLOW): RequestLimits =>
    new RequestLimits(limits, new SqlTokenStore(registry, PATIENT));

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

  test('let a caller through as often in two processes as in one, and give tokens back as time passes', async () => {
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

  test('take names of any characters and changed limits, and keep no row of a bucket that is full', async () => {
    const name = `o'Brien "\\ \u{1F642} {},`;
    expect(await accepted(process(), 30, name)).toBe(20);
    // What is empty by the old limits is empty by the new ones, and no emptier.
    const faster = { requestsPerSecond: 0.01, burst: 10, shared: 'strict' } as const;
    await expect(process(faster).enter(name, 'Get')).rejects.toThrow(
      expect.objectContaining({ retryAfterMs: 100_000 }),
    );
    await accepted(process(), 1, 'bob');
    await query(
      `update eventlog.request_limits set full_date = now() - interval '1 s' where principal = 'bob'`,
    );
    const store = new SqlTokenStore(registry, { ...PATIENT, purgeEveryMs: 0 });
    await store.take([{ principal: 'eve', route: 'Get', tokens: 1 }], { rate: 0.001, burst: 20 });
    await expect
      .poll(async () => (await query('select principal from eventlog.request_limits order by 1')).rows, {
        timeout: 30_000,
      })
      .toEqual([['eve'], [name]]);
  });

  test('count in the process alone, or refuse, when the shard is out of reach', async () => {
    const [lenient, strict] = [process({ ...SLOW, shared: 'lenient' }), process()];
    registry.withhold(registry.defaultShard, 'maintenance');
    expect(await accepted(lenient, 30)).toBe(20);
    await expect(strict.enter('ana', 'Get')).rejects.toThrow('cannot be counted');
  });
});
