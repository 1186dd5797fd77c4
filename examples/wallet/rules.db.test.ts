import type { Application, Caller } from 'fw-actions';
import { Decimal } from 'fw-actions';
import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import { WalletListAction } from './actions/wallet-list-action.js';
import { assembledWallet, OPERATOR, WalletCalls } from './test-support/wallet-calls.js';
import { OWNER } from './test-support/wallets.js';

const ANA: Caller = { name: 'ana', claims: { owner: OWNER } };
const BOB: Caller = { name: 'bob', claims: { owner: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a11' } };

describeOnEachAdapter('rules of the wallet', (harness) => {
  let executor: Application['executor'];
  let calls: WalletCalls;

  beforeEach(async () => {
    ({ executor } = await assembledWallet(harness));
    calls = new WalletCalls({ executor });
  });

  test('refuse others before any write, even chained behind the owner', async () => {
    const wallet = await calls.create('DE');
    const deposit = { walletId: wallet.id, amount: new Decimal(1) };
    const [mine, others, mineAgain] = await Promise.allSettled(
      [ANA, BOB, ANA].map((caller) => executor.execute(caller, WalletDepositMoneyAction, deposit)),
    );
    expect([mine?.status, mineAgain?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(others).toMatchObject({ status: 'rejected', reason: { code: 'FW_FORBIDDEN' } });
    expect(await calls.balanceOf(wallet)).toBe('102');
    expect(await executor.explain(BOB, WalletDepositMoneyAction, deposit)).toMatchObject({
      verdict: { kind: 'refused', code: 'FW_FORBIDDEN' },
    });
  });

  test('filter a list before its page is cut', async () => {
    const mine = [await calls.create('DE'), await calls.create('MX'), await calls.create('DE')];
    const list = (caller: Caller, cursor?: { readonly cursor: string }) =>
      executor.execute(caller, WalletListAction, { ownerId: OWNER, limit: 2, ...cursor });
    const first = await list(ANA);
    const second = await list(ANA, { cursor: first.next ?? '' });
    expect([...first.items, ...second.items].map(({ id }) => id.getValue())).toEqual(
      mine.map(({ id }) => id.getValue()).sort(),
    );
    expect((await list(OPERATOR)).items).toHaveLength(2);
    expect(await list(BOB)).toEqual({ items: [], next: null });
    expect(await list({ name: 'nobody' })).toEqual({ items: [], next: null });
  });
});
