import { existsSync, mkdtempSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
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

  test('in memory is a copy of the first one', async () => {
    const before = version();
    for (const database of [await open(), await open()]) await database.close();
    expect(version()).toBe(before);
  });

  test('has an identifier of its own in a directory, which its lock has created, and keeps its data', async () => {
    const directory = mkdtempSync(join(folder, 'data'));
    const lock = await DirectoryLock.acquire(directory);
    const first = await open(directory);
    await first.exec('create table notes (text text); insert into notes values (1); checkpoint');
    const id = await identifierOf(first);
    expect(id).toMatch(/^\d+$/);
    await first.close();
    const database = await open(directory);
    expect((await database.query('select text from notes')).rows).toEqual([{ text: '1' }]);
    expect(await identifierOf(database)).toBe(id);
    await database.close();
    lock.release();
    const other = await open(mkdtempSync(join(folder, 'data')));
    expect(await identifierOf(other)).not.toBe(id);
    await other.close();
  });

  test('is created again if the process was killed while it created it', async () => {
    const directory = mkdtempSync(join(folder, 'half'));
    const lock = await DirectoryLock.acquire(directory);
    await (await open(directory)).close();
    writeFileSync(join(directory, 'fw-actions-unfinished'), '');
    truncateSync(join(directory, 'global', 'pg_control'), 100);
    const database = await open(directory);
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.close();
    expect(existsSync(join(directory, 'fw-actions-unfinished'))).toBe(false);
    await expect(DirectoryLock.acquire(directory)).rejects.toThrow('in use by this process');
    lock.release();
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
