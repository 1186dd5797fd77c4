import { readFileSync } from 'node:fs';
import { withClient } from './database.js';
import { startOwnServer } from './own-server.js';
import { childrenOf, cpuSeconds, parentOf } from './proc.js';

/**
 * As durable as a production server. Autovacuum is off, because one variant's garbage would be collected in another
 * one's slice; the run vacuums between rounds instead.
 */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  shared_buffers: '512MB',
  max_connections: '900',
  max_wal_size: '8GB',
  min_wal_size: '1GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};

/** Of 16 MB each: what `min_wal_size` keeps. */
const LOG_SEGMENTS = 64;

/**
 * A PostgreSQL server: a new one in the temporary folder, deleted at the end, or the one that `BENCH_POSTGRES` names
 * (`postgres://user:password@host:port/database`, a user who may create databases).
 */
export async function openServer() {
  const given = process.env.BENCH_POSTGRES;
  const own = given === undefined ? await startOwnServer(SETTINGS) : undefined;
  const connection = own?.connection ?? parseUrl(given);
  try {
    if (own !== undefined) await fillLog(connection);
    return { ...(await describe(connection)), connection, close: async () => own?.stop() };
  } catch (error) {
    await own?.stop();
    throw error;
  }
}

/**
 * A server that has run for a while recycles its log segments. A new server first fills each segment with zeros while
 * every commit waits. The checkpoint recycles the segments written here.
 */
async function fillLog(connection) {
  await withClient(connection, async (client) => {
    for (let segment = 0; segment < LOG_SEGMENTS; segment += 1) {
      await client.query(`select pg_logical_emit_message(true, 'bench', ''), pg_switch_wal()`);
    }
    await client.query('checkpoint');
  });
}

function parseUrl(text) {
  const url = new URL(text);
  return {
    host: url.hostname,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1) || 'postgres',
  };
}

async function describe(connection) {
  return withClient(connection, async (client) => {
    const show = async (name) =>
      (await client.query(`select current_setting('${name}') as value`)).rows[0].value;
    const names = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers'];
    const settings = {};
    for (const name of names) settings[name] = await show(name);
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      if (settings[name] === 'off')
        throw new Error(`${name} is off on this server: the numbers would mean nothing`);
    }
    const { rows } = await client.query(
      `select pg_backend_pid() as pid, to_regprocedure('uuidv7()') is not null as uuid7`,
    );
    const postmaster = localParent(rows[0].pid);
    return { settings, hasUuid7: rows[0].uuid7, cpuSeconds: () => serverCpu(postmaster) };
  });
}

function localParent(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres') ? parentOf(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** CPU time of all of the server's processes, including ended ones; undefined if the server is on another machine. */
function serverCpu(postmaster) {
  if (postmaster === undefined) return undefined;
  return childrenOf(postmaster).reduce(
    (sum, pid) => sum + cpuSeconds(pid),
    cpuSeconds(postmaster, { gone: true }),
  );
}
