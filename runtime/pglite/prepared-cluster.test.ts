import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pglite from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openCluster } from './prepared-cluster.js';

describe('A new embedded database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fw-cluster-'));
  const file = join(folder, 'cache', 'cluster.tar.gz');
  const created = vi.spyOn(pglite.PGlite, 'create');

  /** Whether opening it has created its cluster, instead of copying one. */
  async function open(
    directory?: string,
  ): Promise<{ readonly database: pglite.PGlite; readonly isCreated: boolean }> {
    created.mockClear();
    const database = await openCluster(pglite, directory, file);
    const options: unknown = created.mock.calls[0]?.[0];
    return { database, isCreated: options instanceof Object && !('loadDataDir' in options) };
  }

  async function identifierOf(database: pglite.PGlite): Promise<unknown> {
    const text = 'select system_identifier::text as id from pg_control_system()';
    return (await database.query<{ id: string }>(text)).rows[0]?.id;
  }

  beforeAll(async () => {
    const both = await Promise.all([open(), open()]);
    expect(existsSync(file)).toBe(true);
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1);
    for (const { database } of both) await database.close();
  });
  afterAll(() => {
    created.mockRestore();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is a copy of the first one, under an identifier of its own', async () => {
    const [one, other] = [await open(), await open()];
    expect([one.isCreated, other.isCreated]).toEqual([false, false]);
    const ids = [await identifierOf(one.database), await identifierOf(other.database)];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^\d+$/);
    for (const { database } of [one, other]) await database.close();
  });

  test('keeps its data and its identifier in its directory', async () => {
    const directory = join(folder, 'data');
    const first = await open(directory);
    expect(first.isCreated).toBe(false);
    await first.database.exec('create table notes (text text); insert into notes values (1); checkpoint');
    const id = await identifierOf(first.database);
    await first.database.close();
    const { database } = await open(directory);
    expect((await database.query('select text from notes')).rows).toEqual([{ text: '1' }]);
    expect(await identifierOf(database)).toBe(id);
    await database.close();
  });

  test('is created if the kept one is damaged, and replaces it', async () => {
    truncateSync(file, 1_000_000);
    const [one, other] = [await open(), await open()];
    expect([one.isCreated, other.isCreated]).toEqual([true, false]);
    for (const { database } of [one, other]) await database.close();
  });
});
