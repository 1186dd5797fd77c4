import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import {
  CommitOutcomeUnknownError,
  IdempotencyKeyBusyError,
  IdempotencyKeyReusedError,
  RefusedError,
} from '../../errors.js';
import { ResultJson } from '../../persistence/codec/result-json.js';
import type { KeyName } from '../../persistence/write/idempotency-key.js';
import type { PartResult } from '../attempt.js';
import {
  ALICE,
  accountMigrations,
  CreditAction,
  configure,
  HERE,
  makeBank,
  openBank,
  THERE,
} from '../test-support/accounts.js';
import { KeyGuard } from './key-guard.js';
import { KeyRepeats } from './key-repeats.js';

const NAME: KeyName = { principal: 'alice', operation: 'open', key: 'once' };
const ELSEWHERE = ShardIdentifier.of(1, 1);
const IDS = ['1', '2', '3'].map((digit) => `0190b8a0-0000-7000-8000-00000000000${digit}`);
const [FIRST = '', SECOND = '', THIRD = ''] = IDS;
const applied = (): Promise<PartResult> => Promise.resolve({ kind: 'applied', write: undefined });
const refused = (): Promise<never> => Promise.reject(new RefusedError('no'));

describeOnEachAdapter('A key whose home is not the target', (harness) => {
  async function openGuards(keepMs = 3_600_000): Promise<(fingerprint?: string) => KeyGuard> {
    const shards = [HERE, THERE, ELSEWHERE];
    const { gateways } = openBank(await harness.makeShards({ shards, migrations: accountMigrations }));
    return (fingerprint = 'f') =>
      new KeyGuard({
        ...{ name: NAME, fingerprint, home: HERE, keepMs, results: new ResultJson([]) },
        store: (shard) => gateways.gateway(shard).store,
        remainingMs: () => 10_000,
        repeats: new KeyRepeats(),
      });
  }

  function send(
    guard: KeyGuard,
    target: ShardIdentifier,
    id: string,
    answer: () => Promise<PartResult>,
  ): Promise<PartResult> {
    return guard.sendAnnounced(guard.claim(target, 1), id, answer);
  }

  test('is free for another target once the plan has been refused', async () => {
    const guardOf = await openGuards();
    await expect(send(guardOf(), THERE, FIRST, refused)).rejects.toThrow(RefusedError);
    expect(await send(guardOf(), ELSEWHERE, SECOND, applied)).toMatchObject({ kind: 'applied' });
    await expect(send(guardOf(), THERE, THIRD, refused)).rejects.toThrow(IdempotencyKeyBusyError);
  });

  test('stays bound if the outcome of the plan is unknown, and to its request', async () => {
    const guardOf = await openGuards();
    const unknown = (): Promise<never> => Promise.reject(new CommitOutcomeUnknownError(FIRST));
    await expect(send(guardOf(), THERE, FIRST, unknown)).rejects.toThrow(CommitOutcomeUnknownError);
    await expect(send(guardOf(), ELSEWHERE, SECOND, applied)).rejects.toThrow(IdempotencyKeyBusyError);
    await expect(send(guardOf('other'), THERE, THIRD, applied)).rejects.toThrow(IdempotencyKeyReusedError);
  });

  test('stays bound while one plan may be in flight and another one for the same target is refused', async () => {
    const guardOf = await openGuards();
    const [one, other] = [guardOf(), guardOf()];
    const refusedAfter = async (): Promise<never> => {
      await other.announce(other.claim(THERE, 1), SECOND);
      return refused();
    };
    await expect(one.sendAnnounced(one.claim(THERE, 1), FIRST, refusedAfter)).rejects.toThrow(RefusedError);
    const elsewhere = send(one, ELSEWHERE, THIRD, applied);
    await expect(elsewhere).rejects.toThrow(IdempotencyKeyBusyError);
    await expect(send(other, THERE, SECOND, refused)).rejects.toThrow(RefusedError);
    await expect(one.announce(one.claim(ELSEWHERE, 1), THIRD)).rejects.toThrow(IdempotencyKeyBusyError);
  });

  test('still belongs to its attempt after two announcements of that attempt', async () => {
    const guardOf = await openGuards();
    const guard = guardOf();
    await guard.announce(guard.claim(THERE, 1), FIRST);
    await expect(send(guard, THERE, FIRST, refused)).rejects.toThrow(RefusedError);
    expect(await send(guard, ELSEWHERE, SECOND, applied)).toMatchObject({ kind: 'applied' });
  });

  test('is not treated as a repeat if an application’s constraint has the name of the runtime’s', async () => {
    const bank = await makeBank(harness);
    await bank.rows(HERE, 'create unique index idempotency_keys_pkey on accounts (balance)');
    const account = await bank.open(HERE, 5);
    await bank.open(HERE, 6);
    const once = configure().idempotencyKey('once').build();
    const params = { account, amount: new Decimal(1) };
    await expect(bank.executor.execute(ALICE, CreditAction, params, once)).rejects.toMatchObject({
      code: 'FW_UNIQUE_VIOLATION',
      constraint: 'idempotency_keys_pkey',
    });
  });

  test('is released when it expires, regardless of the plan that announced it', async () => {
    const guardOf = await openGuards(-60_000);
    for (const id of [FIRST, SECOND]) await guardOf().announce(guardOf().claim(THERE, 1), id);
    expect(await guardOf().lookUp()).toBeUndefined();
    await guardOf().announce(guardOf().claim(ELSEWHERE, 1), THIRD);
  });
});
