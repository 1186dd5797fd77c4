import { NIL } from 'uuid';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account } from '../../domain/test-support/account.js';
import {
  CommitOutcomeUnknownError,
  DeadlineExceededError,
  IdempotencyKeyBusyError,
  IdempotencyKeyReusedError,
  RefusedError,
  ShardUnavailableError,
} from '../../errors.js';
import { ResultJson } from '../../persistence/codec/result-json.js';
import type { ShardStore } from '../../persistence/shard-store.js';
import type { KeyClaim, KeyName, KeyRecord } from '../../persistence/write/idempotency-key.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { KeyGuard, keyHome, requestFingerprint } from './key-guard.js';
import { KeyRepeats } from './key-repeats.js';

const home = ShardIdentifier.of(0, 0);
const target = ShardIdentifier.of(1, 0);
const name: KeyName = { principal: 'alice', operation: 'deposit', key: 'k1' };

/** The key's row on one shard. */
class KeyStore implements Pick<ShardStore, 'readKey' | 'claimKey' | 'releaseKey'> {
  record: KeyRecord | undefined;

  readKey(): Promise<KeyRecord | undefined> {
    return Promise.resolve(this.record);
  }

  claimKey({ fingerprint, target: to }: KeyClaim, actionId: string): Promise<boolean> {
    const { record } = this;
    if (record !== undefined && (record.fingerprint !== fingerprint || record.target !== to)) {
      return Promise.resolve(false);
    }
    const owner = record === undefined || record.actionId === actionId ? actionId : NIL;
    this.record = { fingerprint, actionId: owner, target: to, result: undefined, expired: false };
    return Promise.resolve(true);
  }

  releaseKey(_: KeyName, actionId?: string): Promise<void> {
    if (this.record?.actionId === actionId || this.record?.expired === true) this.record = undefined;
    return Promise.resolve();
  }
}

let stores: Map<ShardIdentifier, KeyStore>;

beforeEach(() => {
  stores = new Map([
    [home, new KeyStore()],
    [target, new KeyStore()],
  ]);
});

function storeOf(shard: ShardIdentifier): KeyStore {
  const store = stores.get(shard);
  if (store === undefined) throw new Error('No such shard');
  return store;
}

function guardOf(fingerprint = 'f1'): KeyGuard {
  return new KeyGuard({
    ...{ name, fingerprint, home, keepMs: 60_000, results: new ResultJson([]) },
    store: (shard) => storeOf(shard) as unknown as ShardStore,
    remainingMs: () => 1_000,
    repeats: new KeyRepeats(),
  });
}

function recordOf(facts: Partial<KeyRecord>): KeyRecord {
  return { fingerprint: 'f1', actionId: 'a1', target: home, result: undefined, expired: false, ...facts };
}

describe('the home of a key', () => {
  const claimFor = (guard: KeyGuard, shard: ShardIdentifier): KeyClaim => guard.claim(shard, 5);

  test('stores the plan’s target before the plan is sent', async () => {
    const guard = guardOf();
    await guard.announce(claimFor(guard, target), 'a1');
    expect(storeOf(home).record).toMatchObject({ target, actionId: 'a1' });
  });

  test('stores no target if the plan runs there itself: its own row decides', async () => {
    const guard = guardOf();
    await guard.announce(claimFor(guard, home), 'a1');
    expect(storeOf(home).record).toBeUndefined();
  });

  test('accepts the same plan again, but no other target and no other request', async () => {
    const guard = guardOf();
    storeOf(home).record = recordOf({ target });
    await guard.announce(claimFor(guard, target), 'a2');
    const other = guardOf('f2');
    await expect(other.announce(claimFor(other, target), 'a3')).rejects.toThrow(IdempotencyKeyReusedError);
    storeOf(home).record = recordOf({ target: ShardIdentifier.of(2, 0) });
    await expect(guard.announce(claimFor(guard, target), 'a2')).rejects.toThrow(IdempotencyKeyBusyError);
  });

  test.each([
    ['a connection lost under way', undefined, 3, ShardUnavailableError],
    ['a deadline', 'deadline', 1, DeadlineExceededError],
  ] as const)('is asked again only if that may help: after %s', async (_, reason, times, error) => {
    const failure = new DriverFailure('no answer', { phase: 'in-flight', reason });
    const ask = vi.spyOn(storeOf(home), 'readKey').mockRejectedValue(failure);
    await expect(guardOf().lookUp()).rejects.toThrow(error);
    expect(ask).toHaveBeenCalledTimes(times);
  });

  test('is not blamed for the shard of the plan, which does not answer', async () => {
    storeOf(home).record = recordOf({ target });
    const gone = new DriverFailure('gone', { phase: 'not-sent', reason: 'unreachable' });
    vi.spyOn(storeOf(target), 'readKey').mockRejectedValue(gone);
    await expect(guardOf().lookUp()).rejects.toThrow(
      new ShardUnavailableError(target.toString(), 'its database cannot be reached'),
    );
  });

  test('forgets a plan that was not applied', async () => {
    const guard = guardOf();
    const refused = (): Promise<never> => Promise.reject(new RefusedError('no'));
    await expect(guard.sendAnnounced(claimFor(guard, target), 'a1', refused)).rejects.toThrow(RefusedError);
    expect(storeOf(home).record).toBeUndefined();
  });

  test('remembers a plan that was applied or may have been', async () => {
    const guard = guardOf();
    const claim = claimFor(guard, target);
    await guard.sendAnnounced(claim, 'a1', () => Promise.resolve({ kind: 'applied', write: undefined }));
    expect(storeOf(home).record).toMatchObject({ actionId: 'a1' });
    const unknown = (): Promise<never> => Promise.reject(new CommitOutcomeUnknownError('a1'));
    await expect(guard.sendAnnounced(claim, 'a1', unknown)).rejects.toThrow(CommitOutcomeUnknownError);
    expect(storeOf(home).record).toMatchObject({ actionId: 'a1' });
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

  test('has the same fingerprint only with the same params, including secret ones, in any order', () => {
    const print = requestFingerprint(action, { account, amount: 5, pin: '1' });
    expect(requestFingerprint(action, { pin: '1', amount: 5, account })).toBe(print);
    expect(requestFingerprint(action, { account, amount: 5, pin: '2' })).not.toBe(print);
    expect(requestFingerprint({ ...action, name: 'withdraw' }, { account, amount: 5, pin: '1' })).not.toBe(
      print,
    );
  });

  test('has its home on the shard of its first sharded id, else on the default shard', () => {
    expect(keyHome(action, { account, amount: 5 }, home)).toBe(target);
    expect(keyHome(action, { amount: 5 }, home)).toBe(home);
    expect(keyHome(action, undefined, home)).toBe(home);
  });
});
