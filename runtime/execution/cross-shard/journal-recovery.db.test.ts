import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { assembleApplication } from '../../application.js';
import type { Upcaster } from '../../domain/descriptor.js';
import { uuid7 } from '../../domain/id-source.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import {
  accountApplication,
  HERE,
  makeAccounts,
  makeBank,
  openBank,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';
import { halfDone } from '../test-support/half-done.js';
import { JournalRecovery } from './journal-recovery.js';

const started: JournalRecovery[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((recovery) => recovery.stop()));
});

function recoveryOf({ journal, gateways }: TestBank, warnings: string[] = []): JournalRecovery {
  const recovery = new JournalRecovery({
    journal,
    shards: () => gateways.shards,
    intervalMs: 20,
    random: () => 0.5,
    warn: (message) => warnings.push(message),
  });
  started.push(recovery);
  recovery.start();
  return recovery;
}

const IN_TIME = { timeout: 25_000, interval: 20 };

/** A bank of the release in which the params of moves have version 2. */
function laterBank(databases: DatabaseRegistry, upcaster: Upcaster): TestBank {
  return openBank(databases, undefined, (actions: readonly ActionDescriptor[]) =>
    actions.map((each) => (each.name === 'Move' ? { ...each, version: 2, upcasters: [upcaster] } : each)),
  );
}

const renamed: Upcaster = ({ amount, ...rest }) => ({ ...rest, sum: amount ?? null });

describeOnEachAdapter('The journal of cross-shard plans', (harness) => {
  it('recovers by itself in an application that delivers', async () => {
    const databases = await makeAccounts(harness);
    const bank = openBank(databases);
    const { to, id } = await halfDone(bank);
    const warnings: string[] = [];
    const application = assembleApplication(accountApplication, databases, {
      namespace: 'test',
      collaborators: {},
      warn: (message) => warnings.push(message),
    });
    onTestFinished(() => application.close());
    await expect.poll(() => bank.balance(to), IN_TIME).toBe('8');
    await expect
      .poll(() => warnings, IN_TIME)
      .toEqual([expect.stringContaining(`Cross-shard plan ${id} (Move)`)]);
    const [here] = application.journalStatistics();
    expect(here).toMatchObject({ shard: HERE, open: 0, finished: 1, failed: 0 });
  });

  it('is finished once by several processes', async () => {
    const databases = await makeAccounts(harness);
    const banks = [openBank(databases), openBank(databases), openBank(databases)] as const;
    const moves = [await halfDone(banks[0]), await halfDone(banks[0])];
    const warnings: string[] = [];
    const recoveries = banks.map((bank) => recoveryOf(bank, warnings));
    await expect.poll(() => banks[0].journal.open(), IN_TIME).toEqual([]);
    for (const { to } of moves) expect(await banks[0].balance(to)).toBe('8');
    await expect
      .poll(() =>
        recoveries.flatMap((each) => each.statistics()).reduce((sum, { finished }) => sum + finished, 0),
      )
      .toBe(2);
    expect(warnings).toHaveLength(2);
  });

  it('is left alone while an execution or an operator has leased an entry', async () => {
    const bank = await makeBank(harness);
    const { to, id } = await halfDone(bank);
    const { id: other, to: otherTo } = await halfDone(bank);
    await bank.gateways.gateway(HERE).journal.lease(id, uuid7.next(HERE.bits), 600_000);
    const recovery = recoveryOf(bank);
    await expect.poll(() => bank.balance(otherTo), IN_TIME).toBe('8');
    expect(await bank.balance(to)).toBe('5');
    expect((await bank.journal.show(other)).state).toBe('closed');
    expect(recovery.statistics()[0]).toMatchObject({ open: 0 });
  });

  it('flags entries that cannot be finished with the reason, and retries them only on request', async () => {
    const bank = await makeBank(harness);
    const { to, id } = await halfDone(bank);
    await bank.credit(to, 1);
    const warnings: string[] = [];
    const recovery = recoveryOf(bank, warnings);
    await expect
      .poll(() => bank.journal.show(id), IN_TIME)
      .toMatchObject({
        state: 'flagged',
        note: expect.stringContaining('changed meanwhile'),
        attempts: 1,
        parts: [{ status: 'committed' }, { changes: [`update Account ${to} from version 1`] }],
      });
    await expect.poll(() => warnings, IN_TIME).toHaveLength(1);
    expect(warnings[0]).toContain('cannot be finished');
    await expect
      .poll(() => recovery.statistics()[0], IN_TIME)
      .toMatchObject({ open: 0, flagged: 1, failed: 1 });
    await bank.rows(
      THERE,
      `update accounts set version = version - 1, balance = balance - 1 where id = '${to}'`,
    );
    await bank.journal.requestFinish(id);
    await expect.poll(() => bank.balance(to), IN_TIME).toBe('8');
    await bank.journal.requestFinish(id);
    expect((await bank.journal.show(id)).state).toBe('closed');
    const unknown = bank.journal.requestFinish(uuid7.next(HERE.bits));
    await expect(unknown).rejects.toMatchObject({ code: 'FW_JOURNAL', reason: 'unknown' });
  });

  it('waits for an unreachable shard, and stores the reason', async () => {
    let cut = true;
    const registry = wrappedRegistry(await makeAccounts(harness), (_statement, send, { shard }) =>
      cut && shard === THERE
        ? Promise.reject(new DriverFailure('connection refused', { phase: 'not-sent' }))
        : send(),
    );
    cut = false;
    const bank = openBank(registry);
    const { to, id } = await halfDone(bank);
    cut = true;
    const warnings: string[] = [];
    recoveryOf(bank, warnings);
    await expect
      .poll(() => bank.journal.show(id), IN_TIME)
      .toMatchObject({
        state: 'open',
        attempts: 1,
        lastError: expect.stringContaining('(1, 0) is unavailable'),
      });
    expect(warnings[0]).toContain('another attempt follows');
    const pause = await bank.rows(HERE, 'select next_date > clock_timestamp() from eventlog.journal');
    expect(pause).toEqual([[true]]);
    cut = false;
    await bank.journal.requestFinish(id);
    await expect.poll(() => bank.balance(to), IN_TIME).toBe('8');
  });
});

describeOnEachAdapter('Shard transactions of a cross-shard plan', (harness) => {
  it('of an older release are applied by a newer one, with params of its version', async () => {
    const databases = await makeAccounts(harness);
    const { to, id } = await halfDone(openBank(databases));
    const bank = laterBank(databases, renamed);
    await bank.journal.finish(id);
    expect(await bank.balance(to)).toBe('8');
    const [params] = await bank.rows(
      THERE,
      "select params->>'sum' from eventlog.actions where name = 'Move'",
    );
    expect(params).toEqual(['3']);
  });

  it('of a newer release are left to a process of that release, without an attempt and without a pause', async () => {
    const databases = await makeAccounts(harness);
    const after = laterBank(databases, renamed);
    const { to, id } = await halfDone(after);
    const before = openBank(databases);
    await expect(before.journal.finish(id)).rejects.toMatchObject({ code: 'FW_JOURNAL', reason: 'newer' });
    const looks = vi.spyOn(before.journal, 'finish');
    const warnings: string[] = [];
    const recovery = recoveryOf(before, warnings);
    await expect.poll(() => looks.mock.calls.length, IN_TIME).toBeGreaterThan(2);
    await recovery.stop();
    expect(warnings).toEqual([]);
    expect(await before.journal.show(id)).toMatchObject({ state: 'open', attempts: 0, note: undefined });
    await after.journal.finish(id);
    expect(await after.balance(to)).toBe('8');
  });

  it('stay unapplied while their upcaster throws, and are applied once it is fixed', async () => {
    const databases = await makeAccounts(harness);
    const { to, id } = await halfDone(openBank(databases));
    const broken = laterBank(databases, () => {
      throw new TypeError('no sum');
    });
    await expect(broken.journal.finish(id)).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringContaining(
        'The upcaster of the params of Move from version 1 has failed: no sum',
      ),
    });
    expect(await broken.balance(to)).toBe('5');
    const mended = laterBank(databases, renamed);
    await mended.journal.finish(id);
    expect(await mended.balance(to)).toBe('8');
  });
});
