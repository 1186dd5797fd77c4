import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { time } from '../concurrency/time.js';
import { ShardUnavailableError, UnauthenticatedError } from '../errors.js';
import { problemOf } from '../http/problem.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase, Statement } from '../sharding/shard-database.js';
import { ApiKeyStore, parseApiKey, type StoredApiKey } from './api-key-store.js';
import { apiKeys } from './api-keys.js';
import type { RequestHead } from './authenticator.js';

/** A database with one key that answers on request. */
function slowStore(): { store: ApiKeyStore; asked: Statement[]; answer: () => void } {
  const asked: Statement[] = [];
  const answers: (() => void)[] = [];
  const query = (statement: Statement): Promise<object> => {
    asked.push(statement);
    return new Promise((resolve) => answers.push(() => resolve({ rows: [], rowCount: 0 })));
  };
  const store = new ApiKeyStore({ query } as unknown as ConstructorParameters<typeof ApiKeyStore>[0]);
  return { store, asked, answer: () => answers.shift()?.() };
}

const request = (prefix: string): RequestHead =>
  ({ headers: { 'x-api-key': `fwk_${prefix}_${'A'.repeat(43)}` } }) as unknown as RequestHead;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests with invented keys cause one statement at a time and are not cached', async () => {
  const { store, asked, answer } = slowStore();
  const authenticate = apiKeys({ store });
  const prefixes = Array.from({ length: 500 }, (_, index) => index.toString(16).padStart(16, '0'));
  const refused = prefixes.map(async (prefix) =>
    expect(authenticate(request(prefix))).rejects.toThrow(UnauthenticatedError),
  );
  await turn();
  expect(asked).toHaveLength(1);
  answer();
  await turn();
  expect(asked).toHaveLength(2);
  expect(String(asked[1]?.values?.[0]).split(',')).toHaveLength(244);
  answer();
  await Promise.all(refused);
  // The key is looked up again, so a key that was created meanwhile is found.
  const again = expect(authenticate(request(prefixes[0] ?? ''))).rejects.toThrow('is not known');
  await turn();
  expect(asked).toHaveLength(3);
  answer();
  await again;
});

test('a look-up waits one second for a shard that hangs, because callers of all shards wait for it', async () => {
  const limits: unknown[] = [];
  const query: ShardDatabase['query'] = async (_, options) => {
    limits.push(options);
    return { rows: [], rowCount: 0, columns: [], command: 'SELECT' };
  };
  await new ApiKeyStore({ query } as Partial<ShardDatabase> as ShardDatabase).find('0123456789abcdef');
  expect(limits).toEqual([{ timeoutMs: expect.closeTo(1_000, -2) }]);
});

/** A store that a test makes unreachable. */
class FailingStore {
  readonly #keys = new Map<string, StoredApiKey>();
  isDown = false;
  asked = 0;

  add(prefix: string): string {
    const secret = 'A'.repeat(43);
    const text = `fwk_${prefix}_${secret}`;
    const { hash = Buffer.alloc(0) } = parseApiKey(text) ?? {};
    const shown = { prefix, hash, principal: `caller ${prefix}`, claims: {}, note: undefined };
    const dates = {
      createdDate: new Date(),
      expiresDate: undefined,
      expiresInMs: undefined,
      revokedDate: undefined,
    };
    this.#keys.set(prefix, { ...shown, ...dates });
    return text;
  }

  async find(prefix: string): Promise<StoredApiKey | undefined> {
    this.asked += 1;
    await turn();
    if (this.isDown)
      throw new DriverFailure('connect ECONNREFUSED', {
        phase: 'not-sent',
        reason: 'unreachable',
        retryAfterMs: 2_500,
      });
    return this.#keys.get(prefix);
  }

  revoke(prefix: string): void {
    const key = this.#keys.get(prefix);
    if (key !== undefined) this.#keys.set(prefix, { ...key, revokedDate: new Date() });
  }
}

const withKey = (key: string): RequestHead => ({ headers: { 'x-api-key': key } }) as unknown as RequestHead;

describe('while the shard of the keys is down', () => {
  afterEach(() => vi.restoreAllMocks());

  it('a verified key stays in use for the configured time, and no request waits for the shard', async () => {
    let nowMs = 1_000_000;
    vi.spyOn(time, 'nowMs').mockImplementation(() => nowMs);
    const store = new FailingStore();
    const key = store.add('00000000000000aa');
    const authenticate = apiKeys({ store, maximumAgeMs: 3_000, keepMs: 60_000 });
    expect(await authenticate(withKey(key))).toMatchObject({ name: 'caller 00000000000000aa' });
    store.isDown = true;
    nowMs += 59_000;
    expect(await authenticate(withKey(key))).toMatchObject({ name: 'caller 00000000000000aa' });
    const asked = store.asked;
    await Promise.all(Array.from({ length: 50 }, () => authenticate(withKey(key))));
    expect(store.asked).toBe(asked);
    nowMs += 2_000;
    await expect(authenticate(withKey(key))).rejects.toThrow(ShardUnavailableError);
  });

  it('an unknown key is refused as unavailable, with the time of the next attempt, also before any key was read', async () => {
    const store = new FailingStore();
    store.isDown = true;
    const authenticate = apiKeys({ store });
    const error = await Promise.resolve(authenticate(request('00000000000000ab'))).catch((e: unknown) => e);
    expect(problemOf(error)).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
  });

  it('a key that was revoked since the shard answers again is not accepted after a quiet time', async () => {
    let nowMs = 1_000_000;
    vi.spyOn(time, 'nowMs').mockImplementation(() => nowMs);
    const store = new FailingStore();
    const key = store.add('00000000000000ae');
    const authenticate = apiKeys({ store });
    await authenticate(withKey(key));
    store.isDown = true;
    nowMs += 4_000;
    await authenticate(withKey(key));
    store.isDown = false;
    store.revoke('00000000000000ae');
    nowMs += 5_000;
    await expect(authenticate(withKey(key))).rejects.toThrow('was revoked');
  });

  it('a revocation takes effect once the shard answers again', async () => {
    let nowMs = 1_000_000;
    vi.spyOn(time, 'nowMs').mockImplementation(() => nowMs);
    const store = new FailingStore();
    const [key, other] = [store.add('00000000000000ac'), store.add('00000000000000ad')];
    const authenticate = apiKeys({ store, maximumAgeMs: 3_000 });
    for (const each of [key, other]) await authenticate(withKey(each));
    store.isDown = true;
    store.revoke('00000000000000ac');
    nowMs += 4_000;
    await authenticate(withKey(key));
    store.isDown = false;
    nowMs += 3_500;
    // This request starts the look-up.
    await authenticate(withKey(key));
    await turn();
    await turn();
    await expect(authenticate(withKey(key))).rejects.toThrow('was revoked');
    // From then on, requests wait for the shard again.
    store.revoke('00000000000000ad');
    await expect(authenticate(withKey(other))).rejects.toThrow('was revoked');
  });
});
