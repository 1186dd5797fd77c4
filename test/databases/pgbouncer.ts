import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findBinaries } from './binaries.js';
import { freePort, type ServerAddress, tryToConnect } from './server.js';

/** Environment variable with the path of `pgbouncer`, instead of that of the search path. */
export const PGBOUNCER_VARIABLE: string = 'FW_TEST_PGBOUNCER';

/** An installed `pgbouncer`. */
export interface PgbouncerProgram {
  readonly path: string;
  /** `[1, 18]` */
  readonly version: readonly [major: number, minor: number];
}

/** A PgBouncer in transaction mode, in its own process. */
export interface Pgbouncer extends ServerAddress {
  stop(): Promise<void>;
}

/** Undefined if there is none: Debian has it in its package `pgbouncer`. */
export function findPgbouncer(): PgbouncerProgram | undefined {
  const given = process.env[PGBOUNCER_VARIABLE];
  // Debian installs it in a folder that only root's search path contains.
  for (const path of given ? [given] : ['pgbouncer', '/usr/sbin/pgbouncer']) {
    const said = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(said.stdout ?? '') ?? [];
    if (major !== undefined) return { path, version: [Number(major), Number(minor)] };
  }
  return undefined;
}

/**
 * Starts it on a free port for every database of the server. It ends with this process.
 *
 * @param settings settings of its section `[pgbouncer]`, in addition to those of all test poolers
 */
export async function startPgbouncer(
  program: PgbouncerProgram,
  server: ServerAddress,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Pgbouncer> {
  const port = await freePort();
  const { uid, gid } = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'fw-actions-pgbouncer-'));
  const [users, file] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
  writeFileSync(users, `"${server.user}" "${server.password}"\n`);
  const all = { ...SETTINGS, listen_port: port, auth_file: users, ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const databases = `* = host=${server.host} port=${server.port}`;
  writeFileSync(file, `[databases]\n${databases}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const user = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
  if (uid !== undefined) for (const path of [folder, users, file]) chownSync(path, uid, gid ?? uid);
  const child = spawn(program.path, [file], { stdio: 'ignore', ...user });
  const end = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', end);
  const address = { ...server, port };
  const stop = async (): Promise<void> => {
    process.off('exit', end);
    end();
    if (isRunning(child)) await once(child, 'exit');
  };
  await untilReady(child, address).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const { host, user: name, password, database } = address;
  return { host, port, user: name, password, database, stop };
}

const SETTINGS: Readonly<Record<string, string | number>> = {
  listen_addr: '127.0.0.1',
  unix_socket_dir: '',
  pool_mode: 'transaction',
  auth_type: 'scram-sha-256',
  max_client_conn: 200,
};

async function untilReady(child: ChildProcess, address: ServerAddress): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  for (;;) {
    const problem = await tryToConnect(address);
    if (problem === undefined) return;
    if (!isRunning(child) || Date.now() > giveUpAt) throw new Error(`PgBouncer did not start: ${problem}`);
    await delay(25);
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
