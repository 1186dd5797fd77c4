import { expect, test } from 'vitest';
import { HERE, THERE } from '../../runtime/execution/test-support/accounts.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const project = cliProject();

const keys = (...argv: readonly string[]): Promise<Ran> => project.run('keys', ...argv);

describeOn('postgresql', 'fw-gen keys', (harness) => {
  test('creates a key that is shown once, lists it without its secret, and revokes it once', async () => {
    project.configure(await harness.makeTopology({ shards: [HERE], migrations: [] }));
    expect((await keys('list')).info).toContain('There are no API keys.');
    const made = await keys(
      'create',
      '--principal',
      'reports',
      '--scopes',
      'read, list',
      '--claims',
      '{"tenant":"mx"}',
    );
    expect(made.code).toBe(0);
    const [, prefix = '', secret = ''] = /^fwk_([0-9a-f]{16})_([\w-]{43})$/m.exec(made.info) ?? [];
    const listed = await keys('list', '--format', 'json');
    expect(JSON.parse(listed.info)).toMatchObject({
      keys: [{ prefix, principal: 'reports', claims: { tenant: 'mx', scopes: ['read', 'list'] } }],
    });
    expect(secret).not.toBe('');
    expect(listed.info).not.toContain(secret);
    expect((await keys('revoke', prefix)).code).toBe(0);
    expect((await keys('revoke', prefix)).code).toBe(1);
    expect((await keys('list')).info).toMatch(/reports/);
  });

  test('writes no key if two URLs are swapped', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: [] });
    project.configure(topology);
    await project.rows('update eventlog.shard set member_number = 9', HERE);
    for (const argv of [['list'], ['create', '--principal', 'x']]) {
      const { code, error } = await keys(...argv);
      expect([code, error]).toEqual([
        2,
        expect.stringMatching(/ is shard \(0, 9\), not \(0, 0\)\. Are two URLs swapped\?/),
      ]);
    }
    expect(await project.rows('select count(*)::int from eventlog.api_keys', HERE)).toEqual([[0]]);
  });

  test('refuses claims that are not an object, an invalid or past date, and an invalid name', async () => {
    project.configure(await harness.makeTopology({ shards: [HERE], migrations: [] }));
    const create = (...argv: readonly string[]): Promise<Ran> => keys('create', '--principal', 'x', ...argv);
    expect((await create('--claims', '[]')).error).toContain('--claims must be a JSON object');
    expect((await create('--scopes', 'read,,')).error).toContain(
      'Expected scopes separated by single commas',
    );
    expect((await create('--expires', 'soon')).error).toContain('Expected a date, or a time with its zone');
    expect((await create('--expires', '2020-01-01')).error).toContain('"2020-01-01" is in the past');
    const owned = await keys('create', '--principal', 'fw:operator');
    expect([owned.code, owned.error]).toEqual([2, expect.stringContaining('must not begin with fw: (')]);
    const large = JSON.stringify({ note: 'x'.repeat(5_000) });
    expect((await create('--claims', large)).error).toContain('at most 4096 bytes');
  });
});
