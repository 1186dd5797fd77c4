import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import type { DataSourceConfig } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { DirectoryLock } from '../pglite/directory-lock.js';
import { examine } from './examine.js';
import type { Finding } from './finding.js';

const shard = ShardIdentifier.of(0, 0);
const root = temporaryFolder();

/** The findings about the connection of an unreachable shard. */
async function connection(url: DataSourceConfig['url']): Promise<Finding | undefined> {
  const topology = topologyOf([[shard, testDataSource(url, { user: 'u', password: 'p' })]]);
  const databases = openDatabases(topology, { warn: () => {} });
  try {
    const findings = await examine(databases, { topology, application: undefined });
    return findings.find(({ check }) => check === 'connection');
  } finally {
    await databases.close(0);
  }
}

const embedded = (location: string): Promise<Finding | undefined> =>
  connection({ kind: 'pglite', storage: 'file', location });

describe('the advice about a connection', () => {
  it('to an embedded database that another process has open is empty, because the error states it', async () => {
    const lock = await DirectoryLock.acquire(root);
    const finding = await embedded(root);
    lock.release();
    expect(finding).toMatchObject({
      level: 'fault',
      found: expect.stringMatching(/use PostgreSQL\.$/),
      advice: '',
    });
  });

  it('to an embedded database that cannot be opened is about its folder', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(await embedded(file)).toMatchObject({
      found: expect.stringContaining('it is not a folder'),
      advice: expect.stringContaining('the rights to the folder'),
    });
  });

  it('to a server is about its address, which is named once', async () => {
    const finding = await connection(
      serverUrl({ host: '127.0.0.1', port: 1, user: 'u', password: 'p', database: 'd' }, 'd'),
    );
    expect(finding?.advice).toContain('jdbc-url');
    expect(finding?.found.match(/127\.0\.0\.1:1\/d/g)).toHaveLength(1);
  });
});
