import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { connect as connectHttp } from 'node:http2';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDataSource, topologyOf } from '../../test/databases/topology.js';
import { LoopTime } from '../concurrency/loop-time.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { EmbeddedDatabaseLockedError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { OPERATORS_PATH, OperatorsSocket, socketPath } from './operators-socket.js';

const shard = ShardIdentifier.of(0, 0);
const root = temporaryFolder();
const directory = join(root, 'main');
const socket = `${directory}.sock`;
const registries: DatabaseRegistry[] = [];
let server: DatabaseRegistry;

function open(
  embedded: NonNullable<Parameters<typeof openDatabases>[1]>['embedded'],
  location = directory,
): DatabaseRegistry {
  const topology = topologyOf([
    [shard, testDataSource({ kind: 'pglite', storage: 'file', location }, undefined)],
  ]);
  const registry = openDatabases(topology, { warn: () => {}, embedded: embedded ?? 'alone' });
  registries.push(registry);
  return registry;
}

const query = (database: ShardDatabase, sql: string, values: readonly unknown[] = []): Promise<Rows> =>
  database.query({ text: sql, values, name: `same name for all ${sql.length}` });

beforeAll(async () => {
  server = open('serve');
  await query(server.database(shard), 'create table t (id int8 primary key, at timestamptz)');
});
afterAll(() => Promise.all(registries.map((registry) => registry.close(0))));

/** Acts as another process: the directory's lock refuses a second opening in this process too. */
async function asCommand<T>(work: (database: ShardDatabase) => Promise<T>): Promise<T> {
  const registry = open('join');
  try {
    return await work(registry.database(shard));
  } finally {
    await registry.close(0);
  }
}

it('lets a command read and write while the server does, with values of every kind', async () => {
  const at = '2026-01-31T12:00:00.123Z';
  const ours = server.database(shard);
  await query(ours, 'insert into t values (1, $1)', [at]);
  await asCommand(async (database) => {
    await query(database, 'insert into t values ($1, $2)', [String(2n ** 53n), at]);
    expect((await query(database, 'select id, at from t order by id')).rows).toEqual(
      (await query(ours, 'select id, at from t order by id')).rows,
    );
    await expect(query(database, 'insert into t values (1)')).rejects.toMatchObject({ sqlState: '23505' });
    await expect(query(database, 'copy t from stdin')).rejects.toThrow('COPY FROM STDIN');
  });
  expect((await query(ours, 'select count(*)::int4 from t')).rows).toEqual([[2]]);
});

it('is accessible only to its owner', () => {
  expect(statSync(socket).mode & 0o777).toBe(0o600);
});

it('keeps transactions of commands and of the server apart', async () => {
  const ours = server.database(shard);
  await asCommand(async (database) => {
    const session = await database.acquire();
    await session.query({ text: 'begin', values: [] });
    await session.query({ text: 'insert into t values (10)', values: [] });
    // The server's statement waits until the command's transaction has ended.
    const waiting = query(ours, 'select count(*)::int4 from t where id = 10');
    await session.query({ text: 'rollback', values: [] });
    session.release();
    expect((await waiting).rows).toEqual([[0]]);
  });
});

it('ends the transaction of a command that disconnects', async () => {
  const ours = server.database(shard);
  const registry = open('join');
  const session = await registry.database(shard).acquire();
  await session.query({ text: 'begin', values: [] });
  await session.query({ text: 'insert into t values (11)', values: [] });
  await session.query({ text: "set application_name = 'left behind'", values: [] });
  session.destroy();
  await registry.close(0);
  expect((await query(ours, 'select count(*)::int4 from t where id = 11')).rows).toEqual([[0]]);
  expect((await query(ours, 'show application_name')).rows).not.toEqual([['left behind']]);
});

it('keeps a session lock as long as the command holds it', async () => {
  await asCommand(async (database) => {
    const session = await database.acquire();
    await session.query({ text: 'select pg_advisory_lock(7)', values: [] });
    expect((await session.query({ text: 'select pg_advisory_unlock(7)', values: [] })).rows).toEqual([
      [true],
    ]);
    session.release();
  });
});

it('disconnects clients with another protocol, and refuses those of another version', async () => {
  const client = connect(socket).resume();
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await new Promise((resolve) => client.once('close', resolve));
  const other = connectHttp('http://localhost', { createConnection: () => connect(socket) });
  const request = other.request({ ':method': 'POST', ':path': '/operators/0' });
  expect(await text(request)).toContain('another version of fw-actions');
  other.close();
  expect((await query(server.database(shard), 'select 1')).rows).toEqual([[1]]);
});

it('passes on large messages', async () => {
  const large = 'x'.repeat(5_000_000);
  await asCommand(async (database) => {
    const { rows } = await query(database, 'select $1::text, length($1)', [large]);
    expect(rows).toEqual([[large, large.length]]);
  });
});

it('fails a command whose server has ended, also its next statements', async () => {
  const ended = join(root, 'ended');
  const serving = open('serve', ended);
  await query(serving.database(shard), 'select 1');
  const session = await open('join', ended).database(shard).acquire();
  await session.query({ text: 'begin', values: [] });
  await serving.close(0);
  const one = { text: 'select 1', values: [] };
  await expect(session.query(one)).rejects.toMatchObject({ name: 'DriverFailure' });
  await expect(session.query(one)).rejects.toMatchObject({ phase: 'not-sent' });
  session.destroy();
});

it('is not offered by a process that does not share its databases', async () => {
  await server.close(0);
  expect(existsSync(socket)).toBe(false);
  const alone = open('alone');
  await query(alone.database(shard), 'select 1');
  expect(existsSync(socket)).toBe(false);
  const call = asCommand((database) => query(database, 'select 1'));
  await expect(call).rejects.toThrow(EmbeddedDatabaseLockedError);
  await expect(call).rejects.toThrow('only with a process that runs startServer');
  await expect(query(open('serve').database(shard), 'select 1')).rejects.toThrow(EmbeddedDatabaseLockedError);
  await alone.close(0);
});

it('replaces the socket of a server that was killed', async () => {
  const listen = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', listen]);
  expect(existsSync(socket)).toBe(true);
  const again = open('serve');
  await query(again.database(shard), 'select 1');
  await asCommand((database) => query(database, 'select 1'));
  await again.close(0);
  expect(existsSync(socket)).toBe(false);
  // Without a server, a command opens the directory itself.
  await asCommand((database) => query(database, 'select 1'));
});

it('does not open a database that a server has left, so that the next server can', async () => {
  const elsewhere = join(root, 'elsewhere');
  const visitor = open('visit', elsewhere).database(shard);
  const none = `No server has the embedded database in ${elsewhere} open. Start the server`;
  await expect(query(visitor, 'select 1')).rejects.toThrow(none);
  expect(existsSync(elsewhere)).toBe(false);
  const first = open('serve', elsewhere);
  await query(first.database(shard), 'select 1');
  const joined = open('join', elsewhere).database(shard);
  for (const database of [visitor, joined]) await query(database, 'select 1');
  await first.close(0);
  for (const database of [visitor, joined]) {
    await expect(query(database, 'select 1')).rejects.toThrow();
    await expect(query(database, 'select 1')).rejects.toThrow(none);
  }
  const second = open('serve', elsewhere);
  await query(second.database(shard), 'select 1');
  for (const database of [visitor, joined]) expect((await query(database, 'select 1')).rows).toEqual([[1]]);
  await second.close(0);
});

it('needs a path of a length that systems support', () => {
  const deep = join(root, 'x'.repeat(110));
  mkdirSync(deep);
  expect(socketPath(deep)).toBeUndefined();
  // The path is relative to the working folder if that is shorter.
  expect(resolve(socketPath(directory) ?? '')).toBe(`${realpathSync(root)}/main.sock`);
});

it('does not count time in which the process was busy, and disconnects an idle command', async () => {
  let nowMs = 0;
  let look = (): void => {};
  const holding = new LoopTime({
    nowMs: () => nowMs,
    later: (work) => {
      look = work;
    },
  });
  const directory = mkdtempSync(join(root, 'held-'));
  let ended = false;
  const take = (): ReturnType<Parameters<typeof OperatorsSocket.listen>[1]> =>
    Promise.resolve({
      exchange: (messages) => Promise.resolve(messages),
      isNeeded: () => Promise.resolve(true),
      end: () => {
        ended = true;
      },
    });
  const operators = await OperatorsSocket.listen(directory, take, holding);
  if (operators === undefined) return;
  const client = connectHttp('http://localhost', {
    createConnection: () => connect(socketPath(directory) ?? ''),
  });
  const ask = async (): Promise<void> => {
    const request = client.request({ ':method': 'POST', ':path': OPERATORS_PATH });
    request.end('begin');
    expect(await text(request)).toBe('begin');
  };
  await ask();
  nowMs += 20_000;
  look();
  await ask();
  expect(ended).toBe(false);
  const closed = once(client, 'close');
  for (let step = 0; step < 260; step += 1) {
    nowMs += 20;
    look();
  }
  await closed;
  await operators.close();
  expect(ended).toBe(true);
});
