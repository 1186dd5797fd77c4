import { afterEach, expect, test, vi } from 'vitest';
import { JournalRecovery } from '../../runtime/execution/cross-shard/journal-recovery.js';
import {
  accountMigrations,
  HERE,
  openBank,
  type TestBank,
  THERE,
} from '../../runtime/execution/test-support/accounts.js';
import { undoSecondPart } from '../../runtime/execution/test-support/half-done.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import { type Ran, runCommand } from '../test-support/run-command.js';

/** Creating databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const UNKNOWN = '01a1fe5a-6ec7-7421-8000-cc38013f2198';
const project = cliProject();
let recovery: JournalRecovery | undefined;

afterEach(() => recovery?.stop());

const journal = (...argv: readonly string[]): Promise<Ran> => project.run('journal', ...argv);

describeOn('postgresql', 'fw-gen journal', (harness) => {
  /** A half-done move between two shards of the configuration file. */
  async function halfDone(): Promise<{ opened: TestBank; to: string; id: string }> {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: accountMigrations });
    project.configure(topology);
    const opened = openBank(project.databases());
    const [from, to] = [await opened.open(HERE, 10), await opened.open(THERE, 5)];
    await opened.move(from, 3, to);
    return { opened, to, id: await undoSecondPart(opened, to) };
  }

  /** Runs the recovery of a serving process. */
  function recover(opened: TestBank): void {
    const shards = (): readonly (typeof HERE)[] => opened.gateways.shards;
    const times = { intervalMs: 50, random: () => 0.5 };
    recovery = new JournalRecovery({ journal: opened.journal, shards, ...times, warn: () => {} });
    recovery.start();
  }

  test('lists, shows and finishes partially applied plans', async () => {
    const { opened, to, id } = await halfDone();
    const list = await journal('list');
    expect(list.code).toBe(1);
    expect(list.info).toContain(`${id}  open   Move`);
    expect(list.info).toContain('(0, 0) committed, (1, 0) not-applied');
    const shown = await journal('show', id);
    expect(shown.code).toBe(0);
    expect(shown.info).toContain(`update Account ${to} from version 1`);
    // An interruption ends the wait.
    const finish = ['journal', 'finish', id, '--wait', '600', '--config', project.config];
    const alone = await runCommand(finish, AbortSignal.timeout(500));
    expect([alone.code, alone.error]).toEqual([1, expect.stringContaining('is not finished yet')]);
    recover(opened);
    expect(await journal('finish', id)).toMatchObject({ code: 0, info: `${id} is finished.` });
    expect(await opened.balance(to)).toBe('8');
    expect(await journal('list')).toMatchObject({
      code: 0,
      info: 'No interrupted cross-shard plan is partially applied.',
    });
    expect((await journal('finish', id)).code).toBe(0);
    expect((await journal('flag', id, '--note', 'x')).error).toContain('it is closed');
  });

  test('reports why an entry is not finished, and stores notes with it', async () => {
    const { opened, to, id } = await halfDone();
    // A running execution has leased its entry, which does not count as partially applied.
    const store = opened.gateways.gateway(HERE).journal;
    await store.lease(id, UNKNOWN, 600_000);
    expect(await journal('list')).toMatchObject({ code: 0, info: expect.stringContaining(id) });
    await store.release(id, UNKNOWN);
    await opened.credit(to, 1);
    expect(await journal('flag', id, '--note', 'asked the owner')).toMatchObject({ code: 0 });
    const flagged = JSON.parse((await journal('list', '--format', 'json')).info) as object;
    expect(flagged).toMatchObject({
      entries: [{ id, state: 'flagged', note: 'asked the owner' }],
      failures: [],
    });
    recover(opened);
    const { code, error } = await journal('finish', id);
    expect([code, error]).toEqual([1, expect.stringContaining('changed meanwhile')]);
    expect(await opened.balance(to)).toBe('6');
  });

  test('refuses unknown ids and wrong options', async () => {
    project.configure(await harness.makeTopology({ shards: [HERE] }));
    for (const argv of [
      ['show', UNKNOWN],
      ['show', 'x'],
      ['show'],
      ['finish', UNKNOWN],
      ['finish', UNKNOWN, '--wait', '601'],
      ['flag', UNKNOWN],
      ['flag', UNKNOWN, '--note', ' '],
      ['list', '--shard', 'nowhere'],
      ['list', '--limit', '0'],
    ]) {
      const { code, error } = await journal(...argv);
      expect([argv, code, error === '']).toEqual([argv, 2, false]);
      expect(error).not.toContain('    at ');
    }
  });
});
