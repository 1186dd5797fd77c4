import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresUrl } from '../config/types.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { Rows } from '../sharding/shard-database.js';
import { type PostgresServer, startPostgres } from '../testing/databases-server.js';
import { testIdentity } from '../testing/databases-tls.js';
import { testDataSource } from '../testing/databases-topology.js';
import { PostgresDatabase } from './postgres-database.js';

describe('A database behind TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fw-tls-'));
  const sslRootCert = join(folder, 'ca.pem');
  let server: PostgresServer;

  beforeAll(async () => {
    writeFileSync(sslRootCert, testIdentity.certificate);
    server = await startPostgres({}, testIdentity);
  });
  afterAll(async () => {
    await server?.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(overrides: Partial<PostgresUrl>): Promise<Rows> {
    const url: PostgresUrl = {
      ...{ kind: 'postgresql', host: '127.0.0.1', port: server.port, database: server.database },
      ...{ sslMode: 'disable', sslRootCert: undefined },
      ...overrides,
    };
    const database = new PostgresDatabase(ShardIdentifier.of(0, 0), url, testDataSource(url, server));
    try {
      const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
      return await database.query({ text, values: [] });
    } finally {
      await database.close(0);
    }
  }

  it('is encrypted when TLS is required, whoever signed the certificate', async () => {
    expect((await ask({ sslMode: 'require' })).rows).toEqual([[true]]);
    expect((await ask({ sslMode: 'disable' })).rows).toEqual([[false]]);
  });

  it('is verified when that is asked for', async () => {
    expect((await ask({ sslMode: 'verify-full', host: 'localhost', sslRootCert })).rows).toEqual([[true]]);
  });

  it('is refused when its certificate is for another host', async () => {
    const call = ask({ sslMode: 'verify-full', host: '127.0.0.1', sslRootCert });
    await expect(call).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    await expect(call).rejects.toThrow(/altnames|127\.0\.0\.1/);
  });

  it('is refused when nobody trusted has signed its certificate', async () => {
    const call = ask({ sslMode: 'verify-full', host: 'localhost' });
    await expect(call).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    await expect(call).rejects.toThrow(/self-signed/);
  });
});
