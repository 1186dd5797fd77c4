import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ShardingTopology } from '../runtime/config/index.js';
import { uuid7 } from '../runtime/domain/id-source.js';
import { accountModel } from '../runtime/domain/test-support/account.js';
import { accountMigrations, HERE } from '../runtime/execution/test-support/accounts.js';
import { type CompiledProgram, compileProgram } from '../runtime/execution/test-support/compiled-program.js';
import { snapshotSchema } from '../runtime/migration/schema-snapshot.js';
import { expectedTable, tableDrift } from '../runtime/migration/table-drift.js';
import { describeOn } from '../test/databases/vitest.js';
import { cliProject } from './test-support/cli-project.js';
import type { RenamingPlan } from './test-support/renaming-process.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const cli = cliProject();
const fwGen = cli.run;
let program: CompiledProgram | undefined;
const children = new Set<Release>();

beforeAll(() => {
  program = compileProgram(join(import.meta.dirname, 'test-support', 'renaming-process.ts'));
});
afterAll(() => program?.remove());
afterEach(async () => {
  await Promise.all([...children].map((each) => each.kill()));
  children.clear();
});

function project(topology: ShardingTopology): void {
  cli.configure(topology);
  cli.write('src/migrations/0001_accounts.sql', accountMigrations[0]?.up ?? '');
  model('balance', 'nickname');
}

/** The sources with the given field names. */
function model(balance: string, nickname: string, ...further: readonly string[]): void {
  const fields = [
    `readonly ${balance}!: Decimal;`,
    `readonly ${nickname}?: string;`,
    'readonly closedBy!: string | null;',
    ...further,
  ].join('\n  ');
  cli.write(
    'src/account.ts',
    `import { AutoBuilder, type Decimal, Model, type ShardedId } from 'fw-actions';
@AutoBuilder
export class Account extends Model<Account, ShardedId<Account>, 'OPEN' | 'GONE'> {
  ${fields}
}
`,
  );
}

/** One process of one release. */
class Release {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  opened = 0;
  credited = 0;

  constructor(plan: RenamingPlan) {
    this.#child = spawn(process.execPath, [String(program?.path), JSON.stringify(plan)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#ended = once(this.#child, 'exit');
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.opened += text.match(/^opened$/gm)?.length ?? 0;
      this.credited += text.match(/^credited$/gm)?.length ?? 0;
    });
    children.add(this);
  }

  /** Waits until it has made this number of further credits. */
  async goesOn(credits: number): Promise<void> {
    const goal = this.credited + credits;
    const reached = vi.waitFor(() => expect(this.credited).toBeGreaterThanOrEqual(goal), {
      timeout: 90_000,
      interval: 10,
    });
    const ended = this.#ended.then(() => Promise.reject(new Error('The process ended by itself')));
    await Promise.race([reached, ended]);
    ended.catch(() => {});
  }

  /** Lets it finish its work. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
    children.delete(this);
    expect(this.#child.exitCode).toBe(0);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

/** The differences that prevent a process of a release from starting. */
async function driftFor(column: string): Promise<readonly unknown[]> {
  const { columns, ...rest } = expectedTable(accountModel as never);
  const renamed = columns.map((each) => (each.name === 'balance' ? { ...each, name: column } : each));
  return tableDrift([{ ...rest, columns: renamed }], await snapshotSchema(cli.databases().database(HERE)));
}

/** Adds an account with these further columns. @returns its id */
async function insert(columns: string, values: string): Promise<string> {
  const id = uuid7.next(HERE.bits);
  await cli.rows(`insert into accounts (id, state, version, balance, created_date, updated_date, ${columns})
    values ('${id}', 'OPEN', 1, 1, now(), now(), ${values})`);
  return id;
}

describeOn('postgresql', 'fw-gen migrate rename', (harness) => {
  const empty = (): Promise<ShardingTopology> => harness.makeTopology({ shards: [HERE], migrated: false });
  const up = async (): Promise<void> => {
    const { code, info, error } = await fwGen('migrate', 'up');
    expect([code, code === 0 ? '' : info + error]).toEqual([0, '']);
  };

  test('loses no write while an old and a new process write through both releases', async () => {
    const topology = await empty();
    project(topology);
    await up();
    const ids = Array.from({ length: 2_500 }, () => uuid7.next(HERE.bits));
    await cli.rows(`insert into accounts (id, state, version, balance, created_date, updated_date)
      select id, 'OPEN', 1, 1, now(), now() from unnest('{${ids.join(',')}}'::uuid[]) as id`);
    const [member] = topology.groups[0]?.members ?? [];
    if (member === undefined) throw new Error('There is no shard');
    const { url, username = '', password } = member.primary;
    const user = { user: username, password: password?.reveal() ?? '' };
    const start = (column: string): Release => new Release({ url, user, column, accounts: ids.slice(0, 3) });

    const first = start('balance');
    await first.goesOn(10);
    const begun = await fwGen('migrate', 'rename', 'Account.balance', 'amount');
    expect([begun.code, begun.error]).toEqual([0, '']);
    await up();
    await first.goesOn(10);
    // Both releases can start, and the sources of the new one need no other migration.
    expect(await driftFor('balance')).toEqual([]);
    expect(await driftFor('amount')).toEqual([]);
    model('amount', 'nickname');
    expect(await fwGen('migrate', 'diff', '--check')).toMatchObject({ code: 0 });
    const [second, late] = [start('amount'), start('balance')];
    await Promise.all([first, second, late].map((each) => each.goesOn(20)));
    const apart = 'select count(*)::int from accounts where balance is distinct from amount';
    expect(await cli.rows(apart)).toEqual([[0]]);
    await Promise.all([first.stop(), late.stop()]);

    expect((await fwGen('migrate', 'rename', 'Account.balance', 'amount', '--finish')).code).toBe(0);
    await up();
    await second.goesOn(10);
    await second.stop();
    expect(await driftFor('amount')).toEqual([]);
    const releases = [first, late, second];
    const total = releases.reduce((sum, { opened, credited }) => sum + opened + credited, ids.length);
    expect(await cli.rows('select sum(amount)::int from accounts')).toEqual([[total]]);
    const events = releases.reduce((sum, { credited }) => sum + credited, 0);
    expect(await cli.rows('select count(*)::int from eventlog.events')).toEqual([[events]]);
    const left = "select count(*)::int from pg_proc where proname like 'rename_accounts%'";
    expect(await cli.rows(left)).toEqual([[0]]);
  });

  test('keeps an optional field in step, for writes to either column', async () => {
    project(await empty());
    await up();
    const columns = async (id: string): Promise<unknown> =>
      (await cli.rows(`select nickname, alias from accounts where id = '${id}'`))[0];
    const before = await insert('nickname', "'a'");
    expect((await fwGen('migrate', 'rename', 'Account.nickname', 'alias')).code).toBe(0);
    await up();
    expect(await columns(before)).toEqual(['a', 'a']);
    const after = await insert('alias', "'b'");
    expect(await columns(after)).toEqual(['b', 'b']);
    for (const [change, value] of [
      ['alias = null', null],
      ["nickname = 'c'", 'c'],
      ['nickname = null', null],
    ]) {
      await cli.rows(`update accounts set ${change} where id = '${after}'`);
      expect(await columns(after), `after ${change}`).toEqual([value, value]);
    }
    expect(await columns(await insert('nickname', 'null'))).toEqual([null, null]);
  });

  test('repeats an interrupted first release, and refuses a column of the same name', async () => {
    project(await empty());
    await up();
    const id = await insert('nickname', "'a'");
    const other = await insert('nickname', "'b'");
    expect((await fwGen('migrate', 'rename', 'Account.balance', 'amount')).code).toBe(0);
    await cli.rows('alter table accounts add column amount numeric default 7');
    expect((await fwGen('migrate', 'up')).code).not.toBe(0);
    expect(await cli.rows('select distinct balance::int, amount::int from accounts')).toEqual([[1, 7]]);
    await cli.rows('alter table accounts drop column amount');
    await up();
    // The state in which a process was killed before it had copied one of the rows.
    for (const statement of [
      "delete from eventlog.migration_checksums where name like '%begin_rename%'",
      'alter table accounts alter column amount drop not null',
      'alter table accounts disable trigger user',
      `update accounts set amount = null where id = '${id}'`,
      'alter table accounts enable trigger user',
      `update accounts set balance = 3 where id = '${other}'`,
    ])
      await cli.rows(statement);
    await up();
    const rows = 'select balance::int, amount::int from accounts order by balance';
    expect(await cli.rows(rows)).toEqual([
      [1, 1],
      [3, 3],
    ]);
    expect(await driftFor('balance')).toEqual([]);
    expect(await driftFor('amount')).toEqual([]);
  });

  test('copies values that cannot be compared, and NaN', async () => {
    project(await empty());
    const addition = 'alter table accounts add column rate float8, add column extra json;';
    cli.write('src/migrations/0002_extra.sql', addition);
    model('balance', 'nickname', 'readonly rate?: number;', 'readonly extra?: string;');
    await up();
    const renamed = async (id: string): Promise<unknown> =>
      (await cli.rows(`select ratio::text, rate::text, more::text from accounts where id = '${id}'`))[0];
    const old = await insert('rate, extra', `'NaN', '{"a":1}'`);
    for (const names of [
      ['rate', 'ratio'],
      ['extra', 'more'],
    ])
      expect((await fwGen('migrate', 'rename', `Account.${names[0]}`, String(names[1]))).code).toBe(0);
    await up();
    expect(await renamed(old)).toEqual(['NaN', 'NaN', '{"a":1}']);
    const copied = await insert('rate, extra', `'NaN', '[1]'`);
    expect(await renamed(copied)).toEqual(['NaN', 'NaN', '[1]']);
    expect(await renamed(await insert('ratio, more', `'NaN', null`))).toEqual(['NaN', 'NaN', null]);
    await cli.rows(`update accounts set ratio = 2, extra = '[ 1]' where id = '${copied}'`);
    expect(await renamed(copied)).toEqual(['2', '2', '[ 1]']);
    await cli.rows(`update accounts set rate = 'NaN' where id = '${copied}'`);
    expect(await renamed(copied)).toEqual(['NaN', 'NaN', '[ 1]']);
  });

  test('reports what it cannot rename, and writes its files once', async () => {
    project(await empty());
    const written = (): readonly string[] => readdirSync(join(cli.folder, 'src/migrations')).sort();
    const refused = async (...argv: readonly string[]): Promise<string> => {
      const before = written();
      const { code, error } = await fwGen('migrate', 'rename', ...argv);
      expect(code).toBe(2);
      expect(written()).toEqual(before);
      return error;
    };
    const renamed = async (...argv: readonly string[]): Promise<void> => {
      const { code, error } = await fwGen('migrate', 'rename', ...argv);
      expect([code, error]).toEqual([0, '']);
    };
    expect(await refused('Konto.balance', 'amount')).toContain('Choose one of: Account.');
    expect(await refused('Account.balance', 'amount', '--finish')).toContain(
      'No migration has begun the rename',
    );
    const shown = await fwGen('migrate', 'rename', 'Account.balance', 'amount', '--dry-run');
    expect(shown.info).toMatch(/^-- \d{14}_begin_rename_accounts_amount\.sql$/m);
    await renamed('Account.balance', 'amount');
    expect(written()).toEqual([
      '0001_accounts.sql',
      expect.stringMatching(/^\d{14}_begin_rename_accounts_amount\.sql$/),
    ]);
    expect(readFileSync(join(cli.folder, 'src/migrations', written()[1] ?? ''), 'utf8')).toMatch(
      /^-- fw-gen: after 0001_accounts\n-- fw-gen: tables accounts\n-- fw-gen: no transaction\n/,
    );
    expect(await refused('Account.balance', 'amount')).toContain(
      'The rename of accounts.balance to amount is not finished',
    );
    expect(await refused('Account.balance', 'amount', '--finish')).toContain('Rename it to amount');
    model('amount', 'nickname');
    // A view on the old column blocks the migration of the second release.
    const view = join(cli.folder, 'src/migrations/20990101000000_view.sql');
    writeFileSync(view, 'create view balances as select balance from accounts');
    expect(await refused('Account.balance', 'amount', '--finish')).toContain('other objects depend on it');
    rmSync(view);
    await renamed('Account.balance', 'amount', '--finish');
    expect(await refused('Account.balance', 'amount', '--finish')).toContain('or one has finished it');
    expect(await refused('Account.address.city', 'town')).toContain('inside a JSON column');
  });
});
