import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Binaries, findBinaries } from './binaries.js';
import { dataFolder } from './data-folder.js';

/** Address and superuser of a test server. Plain data, so that it can be passed to other processes. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** A database to connect to for creating others. */
  readonly database: string;
}

/** A PostgreSQL server of the tests, in its own process. */
export interface PostgresServer extends ServerAddress {
  /** Stops the server, by default `fast` (disconnects all clients). Keeps the data. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Kills every process of the server with SIGKILL, as a crash would. Keeps the data. */
  kill(): Promise<void>;
  /** Starts the server again on the same port, with other settings if given. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Freezes every process of the server (SIGSTOP): connections stay open and get no answer. */
  pause(): void;
  resume(): void;
  /** A standby server of this one, which is stopped for the copy and started again. */
  standby(): Promise<PostgresServer>;
  /** Kills the server and deletes its data. */
  destroy(): Promise<void>;
}

/** Environment variable that names an existing server to use. */
export const SERVER_VARIABLE: string = 'FW_TEST_POSTGRES';

const PREFIX = 'fw-actions-pg-';
const USER = 'fw_test';
const PASSWORD = 'fw_test_password';

/** As durable as the product requires, and otherwise tuned for many small databases on a small machine. */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '1h',
  wal_level: 'logical',
  autovacuum: 'off',
  lc_messages: 'C',
  log_min_messages: 'fatal',
};

/** A server's certificate and its key, as PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Starts a new server on a free port. It ends with this process; after a crash, a later call deletes its data.
 *
 * @param settings server settings in addition to those of all test servers
 * @param tls absent: the server does not support TLS
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  tls?: TlsIdentity,
): Promise<PostgresServer> {
  removeLeftovers();
  const binaries = findBinaries();
  const root = makeRoot(binaries);
  const secure = tls === undefined ? {} : tlsSettings(binaries, root, tls);
  const server = new Server(binaries, root, await freePort(), { ...settings, ...secure });
  try {
    server.initialise();
    await server.start();
  } catch (error) {
    await server.destroy();
    throw error;
  }
  return server;
}

function makeRoot({ uid, gid }: Binaries): string {
  const root = mkdtempSync(join(dataFolder(), `${PREFIX}${process.pid}-`));
  if (uid !== undefined) chownSync(root, uid, gid ?? uid);
  return root;
}

function tlsSettings({ uid, gid }: Binaries, root: string, tls: TlsIdentity): Record<string, string> {
  const [certificate, key] = [join(root, 'server.crt'), join(root, 'server.key')];
  writeFileSync(certificate, tls.certificate);
  writeFileSync(key, tls.key, { mode: 0o600 });
  if (uid !== undefined) for (const file of [certificate, key]) chownSync(file, uid, gid ?? uid);
  return { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key };
}

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port');
  return address.port;
}

class Server implements PostgresServer {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly user = USER;
  readonly password = PASSWORD;
  readonly database = 'postgres';
  readonly #binaries: Binaries;
  readonly #root: string;
  readonly #data: string;
  #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #output = '';
  readonly #onExit = (): void => {
    this.#signal('SIGKILL');
    rmSync(this.#root, { recursive: true, force: true });
  };

  constructor(binaries: Binaries, root: string, port: number, settings: Readonly<Record<string, string>>) {
    this.#binaries = binaries;
    this.#root = root;
    this.#data = join(root, 'data');
    this.port = port;
    this.#settings = settings;
    process.on('exit', this.#onExit);
  }

  initialise(): void {
    const passwordFile = join(this.#root, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const { initdb, uid, gid } = this.#binaries;
    const result = spawnSync(
      initdb,
      [
        `--pgdata=${this.#data}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
        '--no-instructions',
      ],
      {
        encoding: 'utf8',
        cwd: this.#root,
        ...(uid !== undefined && { uid }),
        ...(gid !== undefined && { gid }),
      },
    );
    if (result.status !== 0) throw new Error(`initdb failed: ${result.stderr}${result.error?.message ?? ''}`);
  }

  async start(settings?: Readonly<Record<string, string>>): Promise<void> {
    this.#settings = { ...this.#settings, ...settings };
    const { postgres, uid, gid } = this.#binaries;
    const flags = Object.entries({ ...SETTINGS, ...this.#settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    this.#output = '';
    const child = spawn(postgres, ['-D', this.#data, '-p', String(this.port), ...flags], {
      cwd: this.#root,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
    child.on('error', (error) => {
      this.#output += error.message;
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#output = `${this.#output}${chunk.toString()}`.slice(-10_000);
    });
    child.unref();
    this.#process = child;
    await this.#untilReady();
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    this.#process?.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await this.#untilGone();
  }

  async kill(): Promise<void> {
    // SIGSTOP first, because a backend that it starts meanwhile would survive.
    this.#process?.kill('SIGSTOP');
    const pid = this.#process?.pid;
    const backends = pid === undefined ? [] : childrenOf(pid);
    this.#signal('SIGKILL');
    await this.#untilGone();
    // The next start is refused while one of the processes holds the shared memory.
    const giveUpAt = Date.now() + 30_000;
    while (isOneRunning(backends) && Date.now() < giveUpAt) await delay(20);
  }

  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  async standby(): Promise<PostgresServer> {
    const root = makeRoot(this.#binaries);
    const follower = new Server(this.#binaries, root, await freePort(), this.#settings);
    await this.stop();
    follower.#follow(this);
    await this.start();
    await follower.start();
    return follower;
  }

  #follow(primary: Server): void {
    const { uid, gid } = this.#binaries;
    const user = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
    const copied = spawnSync('cp', ['-R', primary.#data, this.#data], user);
    if (copied.status !== 0) throw new Error(`The data cannot be copied: ${copied.stderr.toString()}`);
    writeFileSync(join(this.#data, 'standby.signal'), '');
    const { host, port, password } = primary;
    const connection = `host=${host} port=${port} user=${USER} password=${password}`;
    this.#settings = { ...this.#settings, primary_conninfo: connection };
  }

  async destroy(): Promise<void> {
    process.off('exit', this.#onExit);
    await this.kill();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    const giveUpAt = Date.now() + 30_000;
    for (;;) {
      const problem = await tryToConnect(this);
      if (problem === undefined) return;
      if (this.#process?.exitCode !== null || Date.now() > giveUpAt) {
        throw new Error(`PostgreSQL did not start: ${problem}\n${this.#output}`);
      }
      await delay(25);
    }
  }

  async #untilGone(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => {
      child.ref();
      child.once('exit', resolve);
    });
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined || this.#process?.exitCode !== null) return;
    // Backends have their own process groups, so each one gets the signal.
    for (const target of [pid, ...childrenOf(pid)]) send(target, signal);
  }
}

/** Tries to connect. Returns undefined on success, otherwise the reason. */
export async function tryToConnect(address: ServerAddress): Promise<string | undefined> {
  const { host, port, user, password, database } = address;
  const client = new pg.Client({ host, port, user, password, database, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.end().catch(() => {});
  }
}

function childrenOf(pid: number): number[] {
  const listed = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const lines = listed.status === 0 ? listed.stdout.trim().split('\n') : [];
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

/** A process that has ended and waits to be reaped is not running. */
function isOneRunning(pids: readonly number[]): boolean {
  if (pids.length === 0) return false;
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pids.join(',')], { encoding: 'utf8' });
  return stdout.split('\n').some((state) => state !== '' && !state.startsWith('Z'));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

/** Ends servers whose owner died without ending them, and deletes their data. */
function removeLeftovers(): void {
  for (const folder of new Set([dataFolder(), tmpdir()])) removeLeftoversOf(folder);
}

function removeLeftoversOf(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(owner) || isAlive(owner)) continue;
    const root = join(folder, name);
    const pidFile = join(root, 'data', 'postmaster.pid');
    try {
      const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, 'utf8'), 10) : Number.NaN;
      if (isServerOf(pid, root)) for (const target of [pid, ...childrenOf(pid)]) send(target, 'SIGKILL');
      rmSync(root, { recursive: true, force: true });
    } catch {
      // The folder belongs to another user, or another process is deleting it.
    }
  }
}

function isServerOf(pid: number, root: string): boolean {
  if (Number.isNaN(pid)) return false;
  const listed = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return listed.status === 0 && listed.stdout.includes(root);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
