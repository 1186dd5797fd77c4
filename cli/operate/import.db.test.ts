import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardIdentifier } from 'fw-actions';
import { beforeEach, expect, test } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const SHARDS = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];
const MODULE = fileURLToPath(new URL('../../examples/wallet/generated/application.ts', import.meta.url));
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

const project = cliProject();
const inProject = (name: string): string => join(project.folder, name);

describeOn('postgresql', 'fw-gen import', (harness) => {
  const rows = async (text: string) =>
    (await Promise.all(SHARDS.map((shard) => project.rows(text, shard)))).flat();

  beforeEach(async () =>
    project.configure(await harness.makeTopology({ shards: SHARDS, migrations: application.migrations })),
  );

  function importLines(
    action: string,
    lines: readonly object[] | string,
    ...more: readonly string[]
  ): Promise<Ran> {
    const text =
      typeof lines === 'string' ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    project.write('lines.ndjson', text);
    return project.run('import', action, inProject('lines.ndjson'), '--application', MODULE, ...more);
  }

  const OPERATOR = ['--claims', '{"role":"operator"}'];

  async function wallets(count: number): Promise<readonly string[]> {
    const lines = Array.from({ length: count }, (_, nr) => ({
      country: nr % 2 === 0 ? 'MX' : 'DE',
      ...{ ownerId: OWNER, currency: 'MXN', initialBalance: '10' },
    }));
    const { code, info } = await importLines('WalletCreateAction', lines, '--name', 'wallets', ...OPERATOR);
    expect([code, info]).toEqual([0, expect.stringContaining(`${count} done, 0 without effect`)]);
    return (await rows('SELECT id FROM wallets')).map(([id]) => String(id));
  }

  test('runs an action for each line, over all shards, once however often it is repeated, at once too', async () => {
    const ids = await wallets(20);
    const total = async () =>
      (await rows('SELECT sum(balance) FROM wallets')).reduce((sum, [each]) => sum + Number(each), 0);
    const lines = Array.from({ length: 200 }, (_, nr) => ({ walletId: ids[nr % 20], amount: '1' }));
    const add = (name: string) => importLines('WalletDepositMoneyAction', lines, '--name', name, ...OPERATOR);
    const both = await Promise.all([add('bonus'), add('bonus')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await total()).toBe(400);
    await add('bonus');
    expect(await total()).toBe(400);
    await add('second');
    expect(await total()).toBe(600);
    const trail = await rows(
      "SELECT DISTINCT principal FROM eventlog.actions WHERE name = 'WalletDepositMoneyAction'",
    );
    expect(trail).toEqual([['import'], ['import']]);
  });

  test('checks each line as the body of a request', async () => {
    const [walletId] = await wallets(1);
    const text = [
      `{"walletId":"${walletId}","amount":12345678901234.5678}`,
      `{"walletId":"${walletId}","amount":"1","amuont":"2"}`,
      `{"walletId":"${walletId}","amount":"1","amount":"2"}`,
      `{"walletId":"${walletId}","amount":"0"}`,
      '[]',
    ].join('\n');
    const { code } = await importLines('WalletDepositMoneyAction', text, '--name', 'x', ...OPERATOR);
    expect(code).toBe(1);
    const rejected = readFileSync(inProject('lines.ndjson.errors.ndjson'), 'utf8').trim().split('\n');
    expect(rejected.map((line) => JSON.parse(line).message).sort()).toEqual([
      'Deposit amount must be positive',
      'Duplicate key "amount"',
      'Params must be a JSON object',
      'Unknown field "amuont"',
    ]);
    expect(await rows('SELECT balance::text FROM wallets')).toEqual([['12345678901244.5678']]);
  });

  test('names files that it cannot read or write', async () => {
    const [walletId] = await wallets(1);
    project.write('gone.errors.ndjson', 'of an earlier run');
    const gone = await project.run(
      ...['import', 'WalletDepositMoneyAction', inProject('gone'), '--name', 'x', '--application', MODULE],
    );
    expect(readFileSync(inProject('gone.errors.ndjson'), 'utf8')).toBe('of an earlier run');
    expect([gone.code, gone.error]).toEqual([
      2,
      expect.stringContaining(`Cannot open ${inProject('gone')}: ENOENT`),
    ]);
    const lines = [{ walletId, amount: '-1' }];
    const more = ['--name', 'y', '--errors', project.folder, ...OPERATOR];
    const refused = await importLines('WalletDepositMoneyAction', lines, ...more);
    const same = inProject('lines.ndjson');
    expect((await importLines('WalletDepositMoneyAction', lines, ...more, '--errors', same)).code).toBe(2);
    expect(readFileSync(same, 'utf8')).not.toBe('');
    expect([refused.code, refused.error]).toEqual([
      2,
      expect.stringContaining(`Cannot open ${project.folder}: EISDIR`),
    ]);
  });

  test('writes lines without effect to a file, whose mended lines are another import', async () => {
    const [walletId] = await wallets(1);
    const text = [
      JSON.stringify({ walletId, amount: '1', reference: 'r1' }),
      JSON.stringify({ walletId, amount: '-1', reference: 'r2' }),
      JSON.stringify({ walletId, amount: '1' }),
      'no JSON',
      JSON.stringify({ walletId, amount: '1', reference: 'r1' }),
      // Doubles do not distinguish them.
      `{"walletId":"${walletId}","amount":"1","reference":9007199254740992}`,
      `{"walletId":"${walletId}","amount":"1","reference":9007199254740993}`,
    ].join('\r\n');
    const errors = inProject('errors.ndjson');
    const more = [
      ...['--name', 'a', '--key', 'reference', '--errors', errors],
      ...['--format', 'json', '--concurrency', '1'],
    ];
    const { code, info, error } = await importLines('WalletDepositMoneyAction', text, ...more, ...OPERATOR);
    expect([code, JSON.parse(info)]).toEqual([1, { read: 7, done: 2, rejected: 5, open: 0, errors }]);
    expect(error).toContain(`5 lines without effect: ${errors}`);
    const rejected = readFileSync(errors, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rejected).toMatchObject([
      { line: 2, code: 'FW_VALIDATION', message: expect.any(String), params: { reference: 'r2' } },
      { line: 3, code: 'KEY', message: expect.stringContaining('field reference'), params: { walletId } },
      { line: 4, code: 'JSON', message: expect.any(String), params: 'no JSON' },
      ...[6, 7].map((line) => ({ line, code: 'KEY' })),
    ]);
    const once = [
      { walletId, amount: '1' },
      { walletId, amount: '1' },
    ];
    const byWallet = ['--name', 'b', '--key', 'walletId', '--errors', errors, ...OPERATOR];
    expect((await importLines('WalletDepositMoneyAction', once, ...byWallet)).code).toBe(0);
    expect((await rows('SELECT balance::int FROM wallets')).flat()).toEqual([12]);
    // The file is that of the last run.
    expect(existsSync(errors)).toBe(false);
  });

  test('refuses what its principal may not do, unknown actions and modules, at once', async () => {
    const [walletId] = await wallets(1);
    const line = { walletId, amount: '1' };
    const refused = await importLines('WalletDepositMoneyAction', [line], '--name', 'a');
    expect([refused.code, readFileSync(inProject('lines.ndjson.errors.ndjson'), 'utf8')]).toEqual([
      1,
      expect.stringContaining('FW_FORBIDDEN'),
    ]);
    for (const [action, options, error] of [
      [
        'WalletDeposit',
        ['a'],
        /There is no action WalletDeposit\. Choose one of: .*WalletDepositMoneyAction/,
      ],
      ['WalletDepositMoneyAction', ['a', '--collaborators', './none.js'], /Cannot load \.\/none\.js/],
      ['WalletDepositMoneyAction', ['a b'], /without spaces/],
      ['WalletDepositMoneyAction', ['a', '--principal', 'fw:x'], /must not begin with fw: \(/],
    ] as const) {
      const wrong = await importLines(action, [line], '--name', ...options);
      expect([wrong.code, wrong.error]).toEqual([2, expect.stringMatching(error)]);
    }
    expect((await rows('SELECT balance::int FROM wallets')).flat()).toEqual([10]);
  });
});
