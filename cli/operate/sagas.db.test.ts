import { expect, test, vi } from 'vitest';
import { ShardedId } from '../../runtime/domain/id.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';

/** Creating databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SHARDS = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)] as const;
const LATE = "now() - interval '1 minute'";
const SOON = "now() + interval '1 hour'";

const FOUR = [
  ['RUNNING', SOON],
  ['PARKED', SOON],
  ['ENDED', 'NULL'],
  ['RUNNING', LATE],
] as const;

const project = cliProject();

const sagas = (...argv: readonly string[]) => project.run('sagas', 'list', ...argv);

describeOn('postgresql', 'fw-gen sagas list', (harness) => {
  /** Creates one saga per pair of state and deadline, on the shards in turn, oldest first. @returns their ids */
  async function withSagas(
    ...facts: readonly (readonly [state: string, deadline: string])[]
  ): Promise<string[]> {
    project.configure(await harness.makeTopology({ shards: SHARDS }));
    const ids: string[] = [];
    for (const [index, [state, deadline]] of facts.entries()) {
      const shard = SHARDS[index % 2] ?? SHARDS[0];
      const id = ShardedId.generate({ name: 'SagaRun', prototype: undefined }, shard).getValue();
      ids.push(id);
      await project.rows(
        `INSERT INTO eventlog.sagas VALUES ('${id}', '${state}', 1, 'TransferSaga', 'INITIATED', 1, ${deadline},
          'FW_REFUSED', E'Wallet is \\u001b[31mclosed', now(), now())`,
        shard,
      );
    }
    return ids;
  }

  test('lists the sagas of all shards, the oldest first and page by page', async () => {
    const ids = await withSagas(...FOUR);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = cursor === '' ? [] : ['--cursor', cursor];
      const { code, info } = await sagas('--format', 'json', '--limit', '3', ...page);
      expect(code).toBe(0);
      const answer = JSON.parse(info) as { sagas: { id: string }[]; next: string | null };
      seen.push(...answer.sagas.map(({ id }) => id));
      cursor = answer.next;
    }
    expect(seen).toEqual(ids);
  });

  test('shows stuck sagas with the reason, and ends with 1', async () => {
    const [, parked, , late] = await withSagas(...FOUR);
    const { code, info } = await sagas('--stuck');
    expect(code).toBe(1);
    const [, first = '', second = '', ...rest] = info.split('\n');
    expect(first).toContain(`(1, 0)  TransferSaga  ${parked}  PARKED`);
    expect(first).toContain('parked');
    expect(second).toContain(`(1, 0)  TransferSaga  ${late}  RUNNING`);
    expect(second).toContain('overdue');
    expect(info).toContain('FW_REFUSED: Wallet is \\u{1b}[31mclosed');
    expect(rest).toEqual([]);
  });

  test('prints a message when there is none', async () => {
    await withSagas(['RUNNING', SOON]);
    expect(await sagas('--stuck')).toEqual({ code: 0, info: 'No saga is stuck.', error: '' });
    const mistyped = await sagas('--stuck', '--saga', 'OtherSaga');
    expect([mistyped.code, mistyped.error]).toEqual([
      2,
      expect.stringContaining('no checkpoint on any shard'),
    ]);
    expect(await sagas('--step', 'OTHER')).toEqual({ code: 0, info: 'No sagas.', error: '' });
  });

  test('reports the fix if the tables are missing', async () => {
    project.configure(await harness.makeTopology({ shards: SHARDS, migrated: false }));
    const { code, error } = await sagas();
    expect([code, error]).toEqual([2, expect.stringContaining('run fw-gen migrate up')]);
  });

  test.each([1, 2])('ends with 1 where %i of two databases cannot be reached', async (count) => {
    const ids = await withSagas(['RUNNING', SOON], ['RUNNING', SOON]);
    let broken = 0;
    project.edit((text) =>
      text.replaceAll(/(127\.0\.0\.1:)\d+/g, (url, host: string) => {
        broken += 1;
        return broken <= count ? `${host}1` : url;
      }),
    );
    const { code, info, error } = await sagas();
    expect([code, error]).toEqual([1, expect.stringContaining('Shard (0, 0) is unavailable')]);
    expect(info.includes(ids[1] ?? '')).toBe(count === 1);
    expect(info).not.toContain('no saga');
  });

  test('refuses a cursor of another list', async () => {
    await withSagas(['RUNNING', SOON], ['RUNNING', SOON]);
    const { info } = await sagas('--limit', '1');
    const cursor = /--cursor (\S+)/.exec(info)?.[1] ?? '';
    expect((await sagas('--cursor', cursor)).code).toBe(0);
    const other = await sagas('--stuck', '--cursor', cursor);
    expect([other.code, other.error]).toEqual([2, 'cursor was not issued by this list']);
  });
});
