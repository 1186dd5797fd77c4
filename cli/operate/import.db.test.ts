import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardIdentifier } from 'fw-actions';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { openDatabases } from '../../runtime/databases.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { describeOn } from '../../test/databases/vitest.js';
import { type Ran, runCommand } from '../test-support/run-command.js';
import { topologyYaml } from '../test-support/topology-yaml.js';

const SHARDS = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];
const MODULE = fileURLToPath(new URL('../../examples/wallet/generated/application.ts', import.meta.url));
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-import-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describeOn('postgresql', 'fw-gen import', (harness) => {
  let databases: DatabaseRegistry;
  const rows = async (text: string) =>
    (await Promise.all(SHARDS.map((shard) => databases.database(shard).query({ text, values: [] })))).flatMap(
      (each) => each.rows,
    );

  beforeEach(async () => {
    const topology = await harness.makeTopology({ shards: SHARDS, migrations: application.migrations });
    databases = openDatabases(topology);
    writeFileSync(join(folder, 'fw.config.yaml'), topologyYaml(topology));
  });

  afterEach(() => databases.close(0));

  function importLines(
    action: string,
    lines: readonly object[] | string,
    ...more: readonly string[]
  ): Promise<Ran> {
    const file = join(folder, 'lines.ndjson');
    const text =
      typeof lines === 'string' ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(file, text);
    const config = ['--config', join(folder, 'fw.config.yaml'), '--application', MODULE];
    return runCommand(['import', action, file, ...config, ...more]);
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

  test('keeps the order of the lines of one model', async () => {
    const [walletId] = await wallets(1);
    const changes = Array.from({ length: 50 }, (_, nr) => ({ walletId, amount: nr === 0 ? '990' : '10' }));
    const [first, ...others] = changes;
    expect(
      (await importLines('WalletDepositMoneyAction', [first ?? {}], '--name', 'a', ...OPERATOR)).code,
    ).toBe(0);
    expect((await importLines('WalletWithdrawMoneyAction', others, '--name', 'b', ...OPERATOR)).code).toBe(0);
    const balances = await rows(
      "SELECT (payload->>'newBalance')::int FROM eventlog.events WHERE event_type = 'WalletMoneyWithdrawnEvent' ORDER BY position",
    );
    expect(balances.flat()).toEqual(others.map((_, nr) => 990 - nr * 10));
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
    const rejected = readFileSync(join(folder, 'lines.ndjson.errors.ndjson'), 'utf8').trim().split('\n');
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
    const gone = await runCommand(
      ['import', 'WalletDepositMoneyAction', join(folder, 'gone'), '--name', 'x'].concat(
        '--config',
        join(folder, 'fw.config.yaml'),
        '--application',
        MODULE,
      ),
    );
    expect([gone.code, gone.error]).toEqual([
      2,
      expect.stringContaining(`Cannot open ${join(folder, 'gone')}: ENOENT`),
    ]);
    const lines = [{ walletId, amount: '-1' }];
    const more = ['--name', 'y', '--errors', folder, ...OPERATOR];
    const refused = await importLines('WalletDepositMoneyAction', lines, ...more);
    const same = join(folder, 'lines.ndjson');
    expect((await importLines('WalletDepositMoneyAction', lines, ...more, '--errors', same)).code).toBe(2);
    expect(readFileSync(same, 'utf8')).not.toBe('');
    expect([refused.code, refused.error]).toEqual([
      2,
      expect.stringContaining(`Cannot open ${folder}: EISDIR`),
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
    const errors = join(folder, 'errors.ndjson');
    const more = [
      '--name',
      'a',
      '--key',
      'reference',
      '--errors',
      errors,
      '--format',
      'json',
      '--concurrency',
      '1',
    ];
    const { code, info, error } = await importLines('WalletDepositMoneyAction', text, ...more, ...OPERATOR);
    expect([code, JSON.parse(info)]).toEqual([1, { read: 7, done: 2, rejected: 5, errors }]);
    expect(error).toContain(`5 lines without effect: ${errors}`);
    const rejected = readFileSync(errors, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rejected).toEqual([
      {
        line: 2,
        code: 'FW_VALIDATION',
        message: expect.any(String),
        params: expect.objectContaining({ reference: 'r2' }),
      },
      {
        line: 3,
        code: 'KEY',
        message: expect.stringContaining('field reference'),
        params: { walletId, amount: '1' },
      },
      { line: 4, code: 'JSON', message: expect.any(String), params: 'no JSON' },
      ...[6, 7].map((line) => expect.objectContaining({ line, code: 'KEY' })),
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
    expect([refused.code, readFileSync(join(folder, 'lines.ndjson.errors.ndjson'), 'utf8')]).toEqual([
      1,
      expect.stringContaining('FW_FORBIDDEN'),
    ]);
    const unknown = await importLines('WalletDeposit', [line], '--name', 'a');
    expect([unknown.code, unknown.error]).toEqual([
      2,
      expect.stringMatching(/There is no action WalletDeposit\. Choose one of: .*WalletDepositMoneyAction/),
    ]);
    const other = await importLines(
      'WalletDepositMoneyAction',
      [line],
      '--name',
      'a',
      '--collaborators',
      './none.js',
    );
    expect([other.code, other.error]).toEqual([2, expect.stringContaining('Cannot load ./none.js')]);
    const spaced = await importLines('WalletDepositMoneyAction', [line], '--name', 'a b');
    expect([spaced.code, spaced.error]).toEqual([2, expect.stringContaining('without spaces')]);
    const owned = await importLines('WalletDepositMoneyAction', [line], '--name', 'a', '--principal', 'fw:x');
    expect([owned.code, owned.error]).toEqual([2, expect.stringContaining('must not begin with fw: (')]);
    expect((await rows('SELECT balance::int FROM wallets')).flat()).toEqual([10]);
  });
});
