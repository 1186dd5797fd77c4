import { afterEach, expect, it, vi } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { assembleApplication } from '../../application.js';
import { uuid7 } from '../../domain/id-source.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import {
  accountApplication,
  accountMigrations,
  HERE,
  openBank,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';
import { undoSecondPart } from '../test-support/half-done.js';
import { JournalRecovery } from './journal-recovery.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

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

/** Leaves a move of 3 from the first account to the second one half done. */
async function halfDone(bank: TestBank): Promise<{ from: string; to: string; id: string }> {
  const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
  await bank.move(from, 3, to);
  return { from, to, id: await undoSecondPart(bank, to) };
}

function makeShards(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE, THERE], migrations: accountMigrations });
}

const IN_TIME = { timeout: 25_000, interval: 20 };

describeOnEachAdapter('The journal of cross-shard plans', (harness) => {
  it('recovers by itself in an application that delivers', async () => {
    const databases = await makeShards(harness);
    const bank = openBank(databases);
    const { to, id } = await halfDone(bank);
    const warnings: string[] = [];
    const application = assembleApplication(accountApplication, databases, {
      namespace: 'test',
      collaborators: {},
      warn: (message) => warnings.push(message),
    });
    try {
      await expect.poll(() => bank.balance(to), IN_TIME).toBe('8');
      await expect
        .poll(() => warnings, IN_TIME)
        .toEqual([expect.stringContaining(`Cross-shard plan ${id} (Move)`)]);
      const [here] = application.journalStatistics();
      expect(here).toMatchObject({ shard: HERE, open: 0, finished: 1, failed: 0 });
    } finally {
      await application.close();
    }
  });

  it('is finished once by several processes', async () => {
    const databases = await makeShards(harness);
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
    const bank = openBank(await makeShards(harness));
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
    const bank = openBank(await makeShards(harness));
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
    const registry = wrappedRegistry(await makeShards(harness), (_statement, send, { shard }) =>
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
