import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ShardIdentifier } from 'fw-actions';
import { parseConfig } from 'fw-actions/config';
import { migrate, openDatabases } from 'fw-actions/operate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { application } from './generated/application.js';
import {
  configurationOf,
  insertWallet,
  type Member,
  serveWallet,
  sql,
} from './test-support/served-wallet.js';

/** Five shards in two groups; the last one joins while requests are served. */
const LATE = 4;
/** Upper bound for a wait; reached only in case of a fault. */
const GIVE_UP_MS = 60_000;
/** Concurrent requests per shard. */
const CALLERS = 3;

let primary: PostgresServer;
let standby: PostgresServer;
const folder = temporaryFolder();
let members: Member[];

beforeAll(async () => {
  primary = await startPostgres();
  members = [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [1, 2],
  ].map(([group = 0, member = 0]) => ({
    shard: ShardIdentifier.of(group, member),
    ...{ server: primary, database: `wallets_${group}_${member}`, user: 'first', password: 'first' },
    source: sourceOf(2),
  }));
  for (const { database } of members) await sql(primary, `create database ${database}`);
  // A role has one password, so the rotation switches between two roles.
  for (const name of ['first', 'second'])
    await sql(primary, `create role ${name} superuser login password '${name}'`);
  const { sharding } = parseConfig(configuration(), { file: 'fw.yaml', env: {} });
  const databases = openDatabases(sharding);
  await migrate(databases, { migrations: application.migrations });
  await databases.close();
  standby = await primary.standby();
}, 180_000);

afterAll(async () => {
  await standby?.destroy();
  await primary?.destroy();
}, 180_000);

function sourceOf(poolSize: number): object {
  return {
    ...{ 'maximum-pool-size': poolSize, 'application-name': 'web', 'connect-timeout-ms': GIVE_UP_MS },
  };
}

/** A long time limit, so that requests outlast a switch on a slow machine. */
function configuration(shards: readonly Member[] = members): string {
  return configurationOf(shards, { execution: { 'timeout-ms': GIVE_UP_MS } });
}

/** Deposits 1 repeatedly over HTTP, and reads the wallet occasionally. */
class Load {
  deposits = 0;
  answers = 0;
  readonly failures: string[] = [];
  #going = true;
  readonly #callers: Promise<void>[] = [];

  add(url: string, id: string): void {
    for (let caller = 0; caller < CALLERS; caller += 1)
      this.#callers.push(this.#call(`${url}/wallets/${id}`));
  }

  async end(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#callers);
  }

  async #call(wallet: string): Promise<void> {
    for (let turn = 0; this.#going; turn += 1) {
      const isDeposit = turn % 4 !== 3;
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"amount": 1}',
      };
      try {
        const answer = await fetch(isDeposit ? `${wallet}/deposit` : wallet, isDeposit ? request : {});
        const text = await answer.text();
        if (answer.ok) this.answers += 1;
        else this.failures.push(`${answer.status} ${text}`);
        if (answer.ok && isDeposit) this.deposits += 1;
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`Not within a minute: ${what}`);
    await delay(20);
  }
}

/** Promotes the new database once only listening sessions of the old one remain. */
async function promote(database: string): Promise<void> {
  const connected = `select 1 from pg_stat_activity
    where datname = '${database}' and application_name = 'web' and query not like 'LISTEN %'`;
  await until('the server has let go', async () => (await sql(primary, connected)).length === 0);
  const [[position] = []] = await sql(primary, 'select pg_current_wal_lsn()');
  const replayed = `select pg_last_wal_replay_lsn() >= '${String(position)}'`;
  await until('the standby has caught up', async () => (await sql(standby, replayed))[0]?.[0] === true);
  await sql(standby, 'select pg_promote()');
  await sql(standby, `alter database ${database} reset default_transaction_read_only`);
}

test('a reload under load fails, loses and repeats no request', async () => {
  const port = new FakeProcess();
  const server = await serveWallet(folder, configuration(members.slice(0, LATE)), port);
  const load = new Load();
  const phases: string[] = [];
  const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const [answers, startedAt] = [load.answers, performance.now()];
    await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const rate = Math.round((load.answers - answers) / seconds);
    phases.push(`${name}: ${rate} answers/s for ${seconds.toFixed(1)} s, ${load.failures.length} failed`);
  };
  /** Replaces the configuration file and waits for the log line about it. */
  const reload = async (said: string, change: (each: Member, index: number) => Member): Promise<void> => {
    members = members.map(change);
    writeFileSync(join(folder, 'fw.config.yaml'), configuration());
    port.hangup();
    await until(`the log says ${said}`, () => {
      if (port.err.includes('was not reloaded')) throw new Error(port.err);
      return port.err.includes(said);
    });
  };
  const only =
    (wanted: number, more: Partial<Member>) =>
    (each: Member, index: number): Member =>
      index === wanted ? { ...each, ...more } : each;
  const open = async (member: Member): Promise<void> => load.add(server.url, await insertWallet(member));
  try {
    const late = members.slice(LATE);
    for (const each of members.slice(0, LATE)) await open(each);
    await phase('before', () => delay(1_000));
    await phase('shard added', async () => {
      await reload('topology: shard (1, 2) added', (each) => each);
      for (const each of late) await open(each);
      await delay(300);
    });
    await phase('pool resized', async () => {
      await reload('topology: shard (0, 0): connection settings changed', only(0, { source: sourceOf(4) }));
      await delay(300);
    });
    await phase('password rotated', async () => {
      await reload('topology: shard (1, 0): connection settings changed', (each) => ({
        ...{ ...each, user: 'second', password: 'second' },
      }));
      await until('no session uses the old password', async () => {
        const old = "select 1 from pg_stat_activity where usename = 'first' and query not like 'LISTEN %'";
        return (await sql(primary, old)).length === 0;
      });
      await delay(300);
    });
    await phase('member drained', async () => {
      await reload('topology: shard (1, 1): drains', only(3, { draining: true }));
      await delay(300);
    });
    await phase('server changed', async () => {
      const moved = 'wallets_0_1';
      await sql(primary, `alter database ${moved} set default_transaction_read_only = on`);
      const switched = reload('topology: shard (0, 1) moved to another server', only(1, { server: standby }));
      await Promise.all([switched, promote(moved)]);
    });
    await phase('after', () => delay(1_000));
    await load.end();
    console.info(phases.join('\n'));
    expect(load.failures).toEqual([]);
    const balances = await Promise.all(
      members.map(({ server: at, database }) =>
        sql(at, 'select balance::int4, version::int4 from wallets', database),
      ),
    );
    // Each shard accepted deposits, and the acknowledged ones are stored, even on the new server.
    const stored = balances.map(([row]) => Number(row?.[0]));
    expect(stored.every((balance) => balance > 0)).toBe(true);
    expect(stored.reduce((sum, balance) => sum + balance, 0)).toBe(load.deposits);
    expect(balances.map(([row]) => Number(row?.[1]) - Number(row?.[0]))).toEqual([1, 1, 1, 1, 1]);
    const [old] = await sql(primary, 'select balance::int4 from wallets', 'wallets_0_1');
    expect(Number(old?.[0])).toBeLessThan(stored[1] ?? 0);
  } finally {
    await load.end();
    await server.close();
  }
}, 180_000);
