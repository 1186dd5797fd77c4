import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type PostgresServer, startPostgres } from '../databases/server.js';
import { createWallet, get, post } from './http-client.js';
import { failToStart, type ServerProcess, startServerProcess } from './server-process.js';
import { type ShardPlace, writeWalletConfig } from './wallet-config.js';

/** The wallet's server as customers run it: a separate process on two PostgreSQL servers with different ports. */
describe('the wallet server on two PostgreSQL servers', () => {
  const directory = temporaryFolder();
  const owner = randomUUID();
  let servers: { readonly global: PostgresServer; readonly mexico: PostgresServer };
  let databases: { readonly global: pg.Pool; readonly mexico: pg.Pool };
  let config: string;
  let server: ServerProcess;

  beforeAll(async () => {
    const [global, mexico] = await Promise.all([startPostgres(), startPostgres()]);
    servers = { global, mexico };
    databases = { global: poolOf(global), mexico: poolOf(mexico) };
    config = writeWalletConfig(directory, { global: placeOf(global), mexico: placeOf(mexico) });
    server = await startServerProcess(config, { DB_PASSWORD: global.password });
  });

  afterAll(async () => {
    await server?.stop();
    await Promise.all(Object.values(databases ?? {}).map((pool) => pool.end()));
    await Promise.all(Object.values(servers ?? {}).map((postgres) => postgres.destroy()));
  });

  test('stores wallets of Mexico and their events on their own server and all others on the global one', async () => {
    const wallets = await Promise.all(
      ['MX', 'US', 'mx', 'DE'].map((country) => createWallet(server.url, country, owner)),
    );
    expect(wallets.map(({ shardGroup, shardMember }) => [shardGroup, shardMember])).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    const [mexican, ...others] = wallets.map(({ id }) => id);
    expect(await ids(databases.mexico)).toEqual([mexican]);
    expect((await ids(databases.global)).sort()).toEqual(others.sort());
    for (const pool of [databases.global, databases.mexico]) {
      const { rows } = await pool.query('SELECT DISTINCT model_id FROM eventlog.events ORDER BY model_id');
      expect(rows.map(({ model_id }) => model_id)).toEqual(await ids(pool));
    }
  });

  test('a deposit changes balance and version and leaves one event, in one transaction', async () => {
    const wallet = await createWallet(server.url, 'MX', owner);
    const { status, body, headers } = await post(`${server.url}/wallets/${wallet.id}/deposit`, {
      amount: '50.25',
      recipient: 'rent',
    });
    expect([status, body.balance, body.version, headers.get('etag')]).toEqual([200, '150.25', 2, '"2"']);
    const { rows } = await databases.mexico.query(
      `SELECT w.balance, w.version, w.xmin::text AS row_transaction, e.model_name, e.event_type, e.payload, e.namespace,
              e.model_version, e.transaction_id::text AS event_transaction, a.name, a.status, a.params
       FROM wallets w JOIN eventlog.events e ON e.model_id = w.id::text JOIN eventlog.actions a ON a.id = e.action_id
       WHERE w.id = $1 AND e.event_type = 'WalletMoneyDepositedEvent'`,
      [wallet.id],
    );
    expect(rows).toEqual([
      {
        balance: '150.2500',
        version: '2',
        row_transaction: rows[0]?.event_transaction,
        model_name: 'Wallet',
        event_type: 'WalletMoneyDepositedEvent',
        payload: { amount: '50.25', newBalance: '150.25' },
        namespace: 'example.wallet',
        model_version: '2',
        event_transaction: rows[0]?.event_transaction,
        name: 'WalletDepositMoneyAction',
        status: 'committed',
        params: { walletId: wallet.id, amount: '50.25', recipient: 'rent' },
      },
    ]);
  });

  test('an event that the database refuses leaves the wallet unchanged', async () => {
    const wallet = await createWallet(server.url, 'US', owner);
    await databases.global.query(
      "ALTER TABLE eventlog.events ADD CONSTRAINT no_thirteen CHECK (payload->>'amount' IS DISTINCT FROM '13')",
    );
    const refused = await post<{ readonly code: string }>(`${server.url}/wallets/${wallet.id}/deposit`, {
      amount: 13,
    });
    await databases.global.query('ALTER TABLE eventlog.events DROP CONSTRAINT no_thirteen');
    expect([refused.status, refused.body.code]).toEqual([409, 'FW_CONSTRAINT_VIOLATION']);
    expect((await get(`${server.url}/wallets/${wallet.id}`)).body).toEqual(wallet);
    const { rows } = await databases.global.query(
      'SELECT event_type FROM eventlog.events WHERE model_id = $1',
      [wallet.id],
    );
    expect(rows).toEqual([{ event_type: 'WalletCreatedEvent' }]);
  });

  test('two processes that deposit concurrently on one wallet lose no deposit', async () => {
    const second = await startServerProcess(config, { DB_PASSWORD: servers.global.password });
    try {
      const wallet = await createWallet(server.url, 'US', owner, '0');
      const urls = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? server.url : second.url));
      // On a busy machine the other process may win each attempt of a deposit, which then may be repeated.
      const deposit = async (url: string): Promise<{ readonly status: number }> => {
        const answer = await post<{ readonly code: string }>(`${url}/wallets/${wallet.id}/deposit`, {
          amount: '0.1',
        });
        return answer.body.code === 'FW_STALE_MODEL' ? deposit(url) : answer;
      };
      const answers = await Promise.all(urls.map(deposit));
      expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
      const { body } = await get(`${second.url}/wallets/${wallet.id}`);
      expect([body.balance, body.version]).toEqual(['6', 61]);
    } finally {
      await second.stop();
    }
  });

  test('transfers whose process is killed are finished by another one, each once', async () => {
    const second = await startServerProcess(config, { DB_PASSWORD: servers.global.password });
    try {
      const [source, destination] = await Promise.all(
        ['US', 'MX'].map((country) => createWallet(server.url, country, owner, '100')),
      );
      const closed = await createWallet(server.url, 'MX', owner, '0');
      await post(`${server.url}/wallets/${closed.id}/close`, {});
      const send = (destinationId: string | undefined) =>
        post<{ readonly id: string }>(`${second.url}/transfers`, {
          sourceId: source?.id,
          destinationId,
          amount: '5',
        });
      const targets = [destination?.id, closed.id, destination?.id, closed.id, destination?.id];
      const started = await Promise.all(targets.map(send));
      second.process.kill('SIGKILL');
      expect(started.map(({ status }) => status)).toEqual(targets.map(() => 202));
      const state = async (id: string) => (await get(`${server.url}/transfers/${id}`)).body.state;
      for (const [index, { body }] of started.entries()) {
        const end = targets[index] === closed.id ? 'REFUNDED' : 'COMPLETED';
        await expect.poll(() => state(body.id), { timeout: 60_000 }).toBe(end);
      }
      const balance = async (id: string | undefined) =>
        (await get(`${server.url}/wallets/${id}`)).body.balance;
      expect([await balance(source?.id), await balance(destination?.id)]).toEqual(['85', '115']);
    } finally {
      second.process.kill('SIGKILL');
    }
  }, 120_000);

  test('swapped URLs stop the start and name both shards', async () => {
    const swapped = writeWalletConfig(mkdtempSync(join(directory, 'swapped-')), {
      global: placeOf(servers.mexico),
      mexico: placeOf(servers.global),
    });
    const { exitCode, output } = await failToStart(swapped, { DB_PASSWORD: servers.global.password });
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(/\(0, 0\)/);
    expect(output).toMatch(/\(1, 0\)/);
    expect(output).not.toContain(servers.global.password);
  });
});

function placeOf({ host, port, user }: PostgresServer): ShardPlace {
  return {
    jdbcUrl: `jdbc:postgresql://${host}:${port}/postgres`,
    username: user,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
    password: '${DB_PASSWORD}',
  };
}

function poolOf({ host, port, user, password }: PostgresServer): pg.Pool {
  return new pg.Pool({ host, port, user, password, database: 'postgres', max: 2 });
}

async function ids(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query('SELECT id FROM wallets ORDER BY id');
  return rows.map(({ id }) => String(id));
}
