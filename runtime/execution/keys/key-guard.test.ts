import { describe, expect, test, vi } from 'vitest';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { Decimal } from '../../domain/decimal.js';
import { namedFields, t } from '../../domain/field-types.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account } from '../../domain/test-support/account.js';
import { DeadlineExceededError, ShardUnavailableError } from '../../errors.js';
import { ResultJson } from '../../persistence/codec/result-json.js';
import type { ShardStore } from '../../persistence/shard-store.js';
import type { KeyRecord } from '../../persistence/write/idempotency-key.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { KeyGuard, keyHome, requestFingerprint } from './key-guard.js';
import { KeyRepeats } from './key-repeats.js';

const home = ShardIdentifier.of(0, 0);
const target = ShardIdentifier.of(1, 0);

type Read = () => Promise<KeyRecord | undefined>;

/** A guard that reads the key from these shards. */
function guardOn(reads: ReadonlyMap<ShardIdentifier, Read>): KeyGuard {
  return new KeyGuard({
    name: { principal: 'alice', operation: 'deposit', key: 'k1' },
    ...{ fingerprint: 'f1', home, keepMs: 60_000, results: new ResultJson([]) },
    store: (shard) => ({ readKey: reads.get(shard) }) as unknown as ShardStore,
    remainingMs: () => 1_000,
    repeats: new KeyRepeats(),
  });
}

describe('a shard that does not answer a look-up', () => {
  test.each([
    ['a connection lost under way', undefined, 3, ShardUnavailableError],
    ['a deadline', 'deadline', 1, DeadlineExceededError],
  ] as const)('is asked again only if that may help: after %s', async (_, reason, times, error) => {
    const read = vi.fn<Read>().mockRejectedValue(new DriverFailure('lost', { phase: 'in-flight', reason }));
    await expect(guardOn(new Map([[home, read]])).lookUp()).rejects.toThrow(error);
    expect(read).toHaveBeenCalledTimes(times);
  });

  test('is named, also if it is that of the plan and not that of the key', async () => {
    const record: KeyRecord = {
      fingerprint: 'f1',
      actionId: 'a1',
      target,
      result: undefined,
      expired: false,
    };
    const gone = new DriverFailure('gone', { phase: 'not-sent', reason: 'unreachable' });
    const guard = guardOn(
      new Map<ShardIdentifier, Read>([
        [home, () => Promise.resolve(record)],
        [target, () => Promise.reject(gone)],
      ]),
    );
    await expect(guard.lookUp()).rejects.toMatchObject({ code: 'FW_SHARD_UNAVAILABLE', shard: '(1, 0)' });
  });
});

describe('a request', () => {
  const action = {
    name: 'deposit',
    params: [
      { name: 'account', type: { kind: 'id', model: 'Account', sharded: true }, optional: true },
      { name: 'amount', type: { kind: 'number' } },
      { name: 'pin', type: { kind: 'string' }, optional: true, secret: true },
    ],
  } as unknown as ActionDescriptor;
  const account = ShardedId.generate(Account, target);

  test('has the same fingerprint only with the same params, in any order', () => {
    const print = requestFingerprint(action, { account, amount: 5, pin: '1' });
    expect(requestFingerprint(action, { pin: '1', amount: 5, account })).toBe(print);
    expect(requestFingerprint(action, { account, amount: 6, pin: '1' })).not.toBe(print);
    expect(requestFingerprint({ ...action, name: 'withdraw' }, { account, amount: 5, pin: '1' })).not.toBe(
      print,
    );
  });

  test('has a fingerprint from which its secrets cannot be guessed', () => {
    const [print, other] = ['1', '2'].map((pin) => requestFingerprint(action, { account, amount: 5, pin }));
    expect(other).toBe(print);
  });

  test('has the same fingerprint in a release that declares its fields in another order', () => {
    const [price, sku, note] = [t.decimal(19, 4), t.string(), t.string({ optional: true })];
    const before = namedFields({ note, lines: t.list(t.object({ sku, price })) });
    const after = namedFields({ lines: t.list(t.object({ price, sku })), note });
    const params = { note: 'x', lines: [{ sku: 'a', price: new Decimal(1) }] };
    expect(requestFingerprint({ ...action, params: after }, params)).toBe(
      requestFingerprint({ ...action, params: before }, params),
    );
  });

  test.each([
    ['a JSON document', t.json()],
    ['a record', t.record(t.json())],
    ['a list of documents', t.list(t.json())],
  ])('has the same fingerprint with %s of the same keys in another order', (_, type) => {
    const params = namedFields({ meta: type });
    const print = (text: string): string => {
      const meta: unknown = JSON.parse(text);
      return requestFingerprint({ ...action, params }, { meta: type.type.kind === 'list' ? [meta] : meta });
    };
    expect(print('{"b":{"y":1,"x":[2]},"a":3}')).toBe(print('{"a":3,"b":{"x":[2],"y":1}}'));
    expect(print('{"b":[1,2]}')).not.toBe(print('{"b":[2,1]}'));
    expect(print('{"__proto__":1}')).not.toBe(print('{}'));
  });

  test('has its home on the shard of its first sharded id, else on the default shard', () => {
    expect(keyHome(action, { account, amount: 5 }, home)).toBe(target);
    expect(keyHome(action, { amount: 5 }, home)).toBe(home);
    expect(keyHome(action, undefined, home)).toBe(home);
  });
});
