import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ShardIdentifier } from 'fw-actions';
import { parseConfig } from 'fw-actions/config';
import { fixedPrincipal } from 'fw-actions/http';
import { migrate, openDatabases } from 'fw-actions/operate';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveApplication } from '../../runtime/http/process/serve-application.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { type PostgresServer, type ServerAddress, startPostgres } from '../../test/databases/server.js';
import { application } from './generated/application.js';
import { storedWallet } from './test-support/wallets.js';

/** Two groups; the last member joins while requests are served. */
const SHARDS = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
  [1, 2],
] as const;
const LATE = 4;
/** Upper bound for a wait; reached only in case of a fault. */
const GIVE_UP_MS = 60_000;
/** Concurrent requests per shard. */
const CALLERS = 3;

let primary: PostgresServer;
let standby: PostgresServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fw-reload-'));
  primary = await startPostgres();
  for (const shard of SHARDS) await sql(primary, 'postgres', `create database ${nameOf(shard)}`);
  // A role has one password, so the rotation switches between two roles.
  for (const name of ['first', 'second'])
    await sql(primary, 'postgres', `create role ${name} superuser login password '${name}'`);
  const { sharding } = parseConfig(configuration({ members: SHARDS.map(memberOf) }), {
    file: 'fw.yaml',
    env: {},
  });
  const databases = openDatabases(sharding);
  await migrate(databases, { migrations: application.migrations });
  await databases.close();
  standby = await primary.standby();
}, 180_000);

afterAll(async () => {
  await standby?.destroy();
  await primary?.destroy();
  rmSync(folder, { recursive: true, force: true });
}, 180_000);

async function sql(
  server: ServerAddress,
  database: string,
  text: string,
): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({ ...server, database });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

const nameOf = ([group, member]: readonly [number, number]): string => `wallets_${group}_${member}`;

interface Member {
  readonly group: number;
  readonly member: number;
  readonly server?: ServerAddress;
  /** Role and password. */
  readonly credentials?: string;
  readonly poolSize?: number;
  readonly draining?: boolean;
}

const memberOf = ([group, member]: readonly [number, number]): Member => ({ group, member });

function configuration({ members }: { readonly members: readonly Member[] }): string {
  const groups = [0, 1].map((group) => ({
    group,
    name: `group-${group}`,
    members: members.filter((each) => each.group === group).map(memberJson),
  }));
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups };
  // A long time limit, so that requests outlast a switch on a slow machine.
  return JSON.stringify({ fw: { namespace: 'test', sharding, execution: { 'timeout-ms': GIVE_UP_MS } } });
}

function memberJson({
  group,
  member,
  server = primary,
  credentials = 'first',
  poolSize = 2,
  draining = false,
}: Member) {
  const source = {
    'jdbc-url': `jdbc:postgresql://${server.host}:${server.port}/${nameOf([group, member])}`,
    username: credentials,
    password: credentials,
    'maximum-pool-size': poolSize,
    'application-name': 'web',
    'connect-timeout-ms': GIVE_UP_MS,
  };
  return { member, name: nameOf([group, member]), draining, configs: { 'primary-config': source } };
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
  await until('the server has let go', async () => (await sql(primary, 'postgres', connected)).length === 0);
  const [[position] = []] = await sql(primary, 'postgres', 'select pg_current_wal_lsn()');
  const replayed = `select pg_last_wal_replay_lsn() >= '${String(position)}'`;
  await until(
    'the standby has caught up',
    async () => (await sql(standby, 'postgres', replayed))[0]?.[0] === true,
  );
  await sql(standby, 'postgres', 'select pg_promote()');
  await sql(standby, 'postgres', `alter database ${database} reset default_transaction_read_only`);
}

test('a reload under load fails, loses and repeats no request', async () => {
  const config = join(folder, 'fw.config.yaml');
  const members = SHARDS.map(memberOf);
  writeFileSync(config, configuration({ members: members.slice(0, LATE) }));
  const port = new FakeProcess();
  const server = await serveApplication(
    application,
    {
      authenticator: fixedPrincipal('tester', { role: 'operator' }),
      collaborators: {},
      env: {},
      argv: ['--config', config, '--port', '0'],
    },
    port,
  );
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
    for (const [index, each] of members.entries()) members[index] = change(each, index);
    writeFileSync(config, configuration({ members }));
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
  const open = async (index: number): Promise<void> => {
    const [group, member] = SHARDS[index] ?? [0, 0];
    const { id } = storedWallet({ shard: ShardIdentifier.of(group, member) });
    await sql(
      primary,
      nameOf([group, member]),
      `insert into wallets (id, version, state, owner_id, currency, balance, created_date, updated_date)
       values ('${id.toString()}', 1, 'OPENED', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10', 'EUR', 0, now(), now())`,
    );
    load.add(server.url, id.toString());
  };
  try {
    for (let index = 0; index < LATE; index += 1) await open(index);
    await phase('before', () => delay(1_000));
    await phase('shard added', async () => {
      await reload('topology: shard (1, 2) added', (each) => each);
      await open(LATE);
      await delay(300);
    });
    await phase('pool resized', async () => {
      await reload('topology: shard (0, 0): connection settings changed', only(0, { poolSize: 4 }));
      await delay(300);
    });
    await phase('password rotated', async () => {
      await reload('topology: shard (1, 0): connection settings changed', (each) => ({
        ...each,
        credentials: 'second',
      }));
      await until('no session uses the old password', async () => {
        const old = "select 1 from pg_stat_activity where usename = 'first' and query not like 'LISTEN %'";
        return (await sql(primary, 'postgres', old)).length === 0;
      });
      await delay(300);
    });
    await phase('member drained', async () => {
      await reload('topology: shard (1, 1): drains', only(3, { draining: true }));
      await delay(300);
    });
    await phase('server changed', async () => {
      const moved = nameOf([0, 1]);
      await sql(primary, 'postgres', `alter database ${moved} set default_transaction_read_only = on`);
      const switched = reload('topology: shard (0, 1) moved to another server', only(1, { server: standby }));
      await Promise.all([switched, promote(moved)]);
    });
    await phase('after', () => delay(1_000));
    await load.end();
    console.info(phases.join('\n'));
    expect(load.failures).toEqual([]);
    const balances = await Promise.all(
      members.map(({ group, member, server: at = primary }) =>
        sql(at, nameOf([group, member]), 'select balance::int4, version::int4 from wallets'),
      ),
    );
    // Each shard accepted deposits, and the acknowledged ones are stored, even on the new server.
    const stored = balances.map(([row]) => Number(row?.[0]));
    expect(stored.every((balance) => balance > 0)).toBe(true);
    expect(stored.reduce((sum, balance) => sum + balance, 0)).toBe(load.deposits);
    expect(balances.map(([row]) => Number(row?.[1]) - Number(row?.[0]))).toEqual([1, 1, 1, 1, 1]);
    const [old] = await sql(primary, nameOf([0, 1]), 'select balance::int4 from wallets');
    expect(Number(old?.[0])).toBeLessThan(stored[1] ?? 0);
  } finally {
    await load.end();
    await server.close();
  }
}, 180_000);
