import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { testDataSource, topologyOf } from '../../test/databases/topology.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { EmbeddedDatabaseLockedError } from '../errors.js';
import { type CompiledProgram, compileProgram } from '../execution/test-support/compiled-program.js';
import { migrate } from '../migration/migrate.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { DirectoryLock } from './directory-lock.js';
import { openFailure } from './open-failure.js';

const shard = ShardIdentifier.of(0, 0);

describe('The lock of a directory', () => {
  const root = temporaryFolder();
  const children: ChildProcess[] = [];
  let count = 0;
  let directory = '';
  let program: CompiledProgram;

  beforeAll(() => {
    program = compileProgram(join(import.meta.dirname, 'test-support', 'lock-holder.ts'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });
  afterAll(() => program.remove());

  function freshDirectory(): string {
    count += 1;
    directory = join(root, `data-${count}`);
    return directory;
  }

  /** Starts a process that takes the lock, prints the result, and stays. */
  async function holder(): Promise<{ readonly child: ChildProcess; readonly said: string }> {
    const child = spawn(process.execPath, [program.path, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [chunk] = await once(child.stdout, 'data');
    return { child, said: String(chunk).trim() };
  }

  it('refuses a second process, naming directory and process', async () => {
    freshDirectory();
    const { child, said } = await holder();
    expect(said).toBe('held');
    const call = DirectoryLock.acquire(directory);
    await expect(call).rejects.toThrow(EmbeddedDatabaseLockedError);
    await expect(call).rejects.toThrow(`pid ${child.pid}`);
    await expect(call).rejects.toThrow(directory);
  });

  it('refuses a directory that a process of another container has open, whose pid means nothing here', async () => {
    if (process.platform === 'win32') return;
    freshDirectory();
    await holder();
    const [mark] = readdirSync(directory);
    const [prefix, , ...rest] = String(mark).split('.');
    renameSync(join(directory, String(mark)), join(directory, [prefix, 99_999_999, ...rest].join('.')));
    await expect(DirectoryLock.acquire(directory)).rejects.toThrow('pid 99999999 in another container');
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => once(child, 'exit')));
    (await DirectoryLock.acquire(directory)).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is recovered from a process that was killed', async () => {
    freshDirectory();
    const { child } = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await DirectoryLock.acquire(directory)).release();
  });

  it('is recovered from a process whose pid was reused', async () => {
    freshDirectory();
    const lock = await DirectoryLock.acquire(directory);
    const [own] = readdirSync(directory);
    const [prefix, , identity, ...rest] = String(own).split('.');
    if (identity === '0') return; // This system does not report the start time of a process.
    lock.release();
    writeFileSync(join(directory, [prefix, process.ppid, `${identity}9`, ...rest].join('.')), '');
    (await DirectoryLock.acquire(directory)).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is released when its process ends normally', async () => {
    freshDirectory();
    const { child } = await holder();
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is granted to one of many concurrent processes', async () => {
    freshDirectory();
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => holder()));
    expect(outcomes.filter(({ said }) => said === 'held')).toHaveLength(1);
  });

  it('adds one listener to the process, however many directories are locked', async () => {
    const before = process.listenerCount('exit');
    const locks = await Promise.all(
      Array.from({ length: 12 }, () => DirectoryLock.acquire(freshDirectory())),
    );
    expect(process.listenerCount('exit') - before).toBeLessThanOrEqual(1);
    for (const lock of locks) lock.release();
  });

  it('refuses a second instance in the same process', async () => {
    const lock = await DirectoryLock.acquire(freshDirectory());
    await expect(DirectoryLock.acquire(directory)).rejects.toThrow('by this process');
    lock.release();
    (await DirectoryLock.acquire(directory)).release();
  });
});

describe('An embedded database in a directory', () => {
  const root = temporaryFolder();
  const registries: DatabaseRegistry[] = [];
  afterAll(() => Promise.all(registries.map((registry) => registry.close(0))));

  function open(location: string, warnings: string[]): DatabaseRegistry {
    const url = { kind: 'pglite', storage: 'file', location } as const;
    const topology = topologyOf([[shard, testDataSource(url, undefined)]]);
    const registry = openDatabases(topology, { warn: (message) => warnings.push(message) });
    registries.push(registry);
    return registry;
  }

  it('stores its data, warns once, and is open in one place at a time', async () => {
    const directory = join(root, 'deep', 'data');
    const warnings: string[] = [];
    const first = open(directory, warnings);
    expect(warnings).toEqual([]);
    await first.database(shard).query({ text: 'create table t as select 1 as id', values: [] });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('power loss');
    const second = open(directory, warnings).database(shard);
    await expect(second.query({ text: 'select 1', values: [] })).rejects.toThrow(EmbeddedDatabaseLockedError);
    await first.close();
    expect((await second.query({ text: 'select id from t', values: [] })).rows).toEqual([[1]]);
  });

  describe('that cannot be opened reports the reason', () => {
    const refused = async (directory: string, reason: string): Promise<void> => {
      const message = `The embedded database in ${directory} cannot be opened: ${reason}`;
      const database = open(directory, []).database(shard);
      await expect(database.query({ text: 'select 1', values: [] })).rejects.toMatchObject({
        message,
        cause: expect.anything(),
      });
      await expect(migrate(open(directory, []), { migrations: [] })).rejects.toThrow(
        `Shard (0, 0) cannot be migrated: ${message}`,
      );
    };

    it('when the disk is full', async () => {
      const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', errno: -28 });
      });
      onTestFinished(() => void full.mockRestore());
      await refused(join(root, 'full'), 'no space left on the disk');
    });

    it('when it is of another version, or damaged', async () => {
      const directory = join(root, 'other');
      mkdirSync(directory);
      writeFileSync(join(directory, 'PG_VERSION'), '12\n');
      await refused(directory, 'it is damaged, or of another version of PostgreSQL');
    });

    it('when a file is there', async () => {
      const file = join(root, 'file');
      writeFileSync(file, '');
      await refused(file, 'it is not a folder');
    });
  });
});

it.each([
  [{ errno: 2 }, 'permission denied'],
  [
    Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }),
    'its file system is read-only',
  ],
  [{ name: 'ErrnoError', errno: 8 }, 'its file system says {"name":"ErrnoError","errno":8}'],
  [new Error('something else'), 'something else'],
])('%o is reported as: %s', (cause, reason) => {
  expect(openFailure('data', cause)).toMatchObject({
    message: `The embedded database in data cannot be opened: ${reason}`,
    cause,
  });
});

// A file system without space.
it.runIf(fs.existsSync('/proc/self'))('a full disk is not reported as damage', () => {
  const { message } = openFailure('/proc', new Error('Aborted(). Build with -sASSERTIONS for more info.'));
  expect(message).toBe('The embedded database in /proc cannot be opened: no space left on the disk');
});

describe('An embedded database whose engine crashed during a statement', () => {
  const location = temporaryFolder();

  it('is opened again from its directory, with all committed data', async () => {
    const depth = 20_000;
    const deadly = { text: 'select $1::jsonb is null', values: ['['.repeat(depth) + ']'.repeat(depth)] };
    const url = { kind: 'pglite', storage: 'file', location } as const;
    const registry = openDatabases(topologyOf([[shard, testDataSource(url, undefined)]]), { warn: () => {} });
    const database = registry.database(shard);
    await database.query({ text: 'create table t as select 1 as id', values: [] });
    await expect(database.query(deadly)).rejects.toMatchObject({ phase: 'in-flight' });
    expect((await database.query({ text: 'select id from t', values: [] })).rows).toEqual([[1]]);
    await registry.close(0);
  });
});
