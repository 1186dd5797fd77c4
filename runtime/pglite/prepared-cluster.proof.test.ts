import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import * as pglite from '@electric-sql/pglite';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { DirectoryLock } from './directory-lock.js';
import { openCluster } from './prepared-cluster.js';

describe('A new embedded database', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'cache', 'cluster.tar.gz');
  const open = (directory?: string): Promise<pglite.PGlite> => openCluster(pglite, directory, file);
  const version = (): number => statSync(file).ino;

  async function identifierOf(database: pglite.PGlite): Promise<unknown> {
    const text = 'select system_identifier::text as id from pg_control_system()';
    return (await database.query<{ id: string }>(text)).rows[0]?.id;
  }

  beforeAll(async () => {
    const both = await Promise.all([open(), open()]);
    for (const database of both) await database.close();
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1);
  });

  test('is a copy of the first one, under an identifier of its own', async () => {
    const before = version();
    const both = [await open(), await open()];
    const ids = await Promise.all(both.map(identifierOf));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^\d+$/);
    for (const database of both) await database.close();
    expect(version()).toBe(before);
  });

  test('keeps its data and its identifier in its directory, which its lock has created', async () => {
    const directory = mkdtempSync(join(folder, 'data'));
    const lock = await DirectoryLock.acquire(directory);
    const before = version();
    const first = await open(directory);
    await first.exec('create table notes (text text); insert into notes values (1); checkpoint');
    const id = await identifierOf(first);
    await first.close();
    const database = await open(directory);
    expect((await database.query('select text from notes')).rows).toEqual([{ text: '1' }]);
    expect(await identifierOf(database)).toBe(id);
    await database.close();
    lock.release();
    expect(version()).toBe(before);
    const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o077);
    if (process.platform !== 'win32') expect(new Set(modes)).toEqual(new Set([0]));
  });

  test('is copied again if the process was killed while it copied', async () => {
    const directory = mkdtempSync(join(folder, 'half'));
    await (await open(directory)).close();
    rmSync(join(directory, 'PG_VERSION'));
    truncateSync(join(directory, 'global', 'pg_control'), 100);
    const database = await open(directory);
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  test('has no PG_VERSION until everything else is copied', async () => {
    const directory = mkdtempSync(join(folder, 'half'));
    mkdirSync(join(directory, 'global', 'pg_control'), { recursive: true });
    await expect(open(directory)).rejects.toMatchObject({ code: 'EISDIR' });
    expect(existsSync(join(directory, 'PG_VERSION'))).toBe(false);
  });

  test('has buffers of 32 MB', async () => {
    const database = await open();
    expect((await database.query('show shared_buffers')).rows).toEqual([{ shared_buffers: '32MB' }]);
    await database.close();
  });

  test('is created if the kept one is damaged, and replaces it', async () => {
    truncateSync(file, 1_000_000);
    const both = [await open(), await open()];
    for (const database of both) await database.close();
    expect(statSync(file).size).toBeGreaterThan(2_000_000);
  });

  test('is created if no file can be kept', async () => {
    const database = await openCluster(pglite, undefined, undefined);
    expect(await identifierOf(database)).toMatch(/^\d+$/);
    await database.close();
    const blocked = join(file, 'under-a-file', 'cluster.tar.gz');
    const other = await openCluster(pglite, undefined, blocked);
    expect(await identifierOf(other)).toMatch(/^\d+$/);
    await other.close();
  });
});
