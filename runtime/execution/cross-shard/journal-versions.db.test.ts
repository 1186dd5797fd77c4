import { expect, it, vi } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { Upcaster } from '../../domain/descriptor.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { accountMigrations, HERE, openBank, type TestBank, THERE } from '../test-support/accounts.js';
import { undoSecondPart } from '../test-support/half-done.js';
import { JournalRecovery } from './journal-recovery.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A bank of the release in which the params of moves have version 2. */
function laterBank(databases: DatabaseRegistry, upcaster: Upcaster): TestBank {
  return openBank(databases, undefined, (actions: readonly ActionDescriptor[]) =>
    actions.map((each) => (each.name === 'Move' ? { ...each, version: 2, upcasters: [upcaster] } : each)),
  );
}

const renamed: Upcaster = ({ amount, ...rest }) => ({ ...rest, sum: amount ?? null });

async function halfDone(bank: TestBank): Promise<{ readonly to: string; readonly id: string }> {
  const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
  await bank.move(from, 3, to);
  return { to, id: await undoSecondPart(bank, to) };
}

function makeShards(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE, THERE], migrations: accountMigrations });
}

describeOnEachAdapter('Shard transactions of a cross-shard plan', (harness) => {
  it('of an older release are applied by a newer one, with params of its version', async () => {
    const databases = await makeShards(harness);
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
    const databases = await makeShards(harness);
    const after = laterBank(databases, renamed);
    const { to, id } = await halfDone(after);
    const before = openBank(databases);
    await expect(before.journal.finish(id)).rejects.toMatchObject({ code: 'FW_JOURNAL', reason: 'newer' });
    const looks = vi.spyOn(before.journal, 'finish');
    const recovery = new JournalRecovery({
      journal: before.journal,
      shards: () => [HERE],
      intervalMs: 20,
      random: () => 0.5,
      warn: () => expect.unreachable('it is none of its business'),
    });
    recovery.start();
    await expect.poll(() => looks.mock.calls.length, { timeout: 25_000 }).toBeGreaterThan(1);
    await recovery.stop();
    expect(await before.journal.show(id)).toMatchObject({ state: 'open', attempts: 0, note: undefined });
    await after.journal.finish(id);
    expect(await after.balance(to)).toBe('8');
  });

  it('stay unapplied while their upcaster throws, and are applied once it is fixed', async () => {
    const databases = await makeShards(harness);
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
