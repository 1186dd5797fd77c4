import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import {
  expiredIdentity,
  strangersCertificate,
  testClientIdentity,
  testIdentity,
} from '../../test/databases/tls.js';
import { testDataSource } from '../../test/databases/topology.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import type { PostgresUrl } from '../config/types.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { Rows } from '../sharding/shard-database.js';
import { PostgresDatabase } from './postgres-database.js';

const folder = temporaryFolder();
const place = (name: string): string => join(folder, name);
const put = (name: string, text: string): string => {
  writeFileSync(place(name), text);
  return place(name);
};
const sslRootCert = place('ca.pem');

beforeAll(() => {
  // The server runs as another user and reads some of these files.
  chmodSync(folder, 0o755);
  put('ca.pem', testIdentity.certificate);
});

function databaseOn(server: PostgresServer, overrides: Partial<PostgresUrl>): PostgresDatabase {
  const url: PostgresUrl = {
    ...{ kind: 'postgresql', host: 'localhost', port: server.port, database: server.database },
    ...{ sslMode: 'verify-full', sslRootCert },
    ...overrides,
  };
  return new PostgresDatabase(ShardIdentifier.of(0, 0), url, testDataSource(url, server));
}

const isEncrypted = { text: 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', values: [] };

async function ask(server: PostgresServer, overrides: Partial<PostgresUrl>): Promise<Rows> {
  const database = databaseOn(server, overrides);
  return database.query(isEncrypted).finally(() => database.close(0));
}

/** Expects a refusal before the statement was sent, for this reason. */
async function expectRefused(call: Promise<Rows>, reason: RegExp): Promise<void> {
  await expect(call).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
  await expect(call).rejects.toThrow(reason);
}

describe('A database behind TLS', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({}, testIdentity);
  });
  afterAll(() => server?.destroy());

  it('is encrypted when TLS is required, with a certificate of any authority', async () => {
    const host = '127.0.0.1';
    expect((await ask(server, { sslMode: 'require', host, sslRootCert: undefined })).rows).toEqual([[true]]);
    expect((await ask(server, { sslMode: 'disable', host, sslRootCert: undefined })).rows).toEqual([[false]]);
  });

  it('is verified when configured', async () => {
    expect((await ask(server, {})).rows).toEqual([[true]]);
  });

  it('is refused when its certificate is for another host', async () => {
    await expectRefused(ask(server, { host: '127.0.0.1' }), /altnames|127\.0\.0\.1/);
  });

  it('is refused when no trusted authority has signed its certificate', async () => {
    await expectRefused(ask(server, { sslRootCert: undefined }), /self-signed/);
    const stranger = put('stranger.pem', strangersCertificate);
    await expectRefused(ask(server, { sslRootCert: stranger }), /self-signed|unable to verify/);
  });

  it('is refused when the file with the authorities is missing, or contains none', async () => {
    await expectRefused(
      ask(server, { sslRootCert: place('missing.pem') }),
      /cannot read a certificate.*missing\.pem/,
    );
    await expectRefused(ask(server, { sslRootCert: put('empty.pem', 'nothing\n') }), /localhost/);
  });

  it('uses a replaced certificate for new connections', async () => {
    const changing = put('changing.pem', strangersCertificate);
    const database = databaseOn(server, { sslRootCert: changing });
    onTestFinished(() => database.close(0));
    await expectRefused(database.query(isEncrypted), /self-signed|unable to verify/);
    put('changing.pem', testIdentity.certificate);
    expect((await database.query(isEncrypted)).rows).toEqual([[true]]);
  });

  it('cancels a read that is given up', async () => {
    const database = databaseOn(server, {});
    onTestFinished(() => database.close(0));
    // The server does not notice the lost connection by itself.
    const slow = database.query(
      {
        text: "select pg_sleep(60) from set_config('client_connection_check_interval', '0', false)",
        values: [],
      },
      { timeoutMs: 500 },
    );
    await expect(slow).rejects.toMatchObject({ phase: 'in-flight', reason: 'deadline' });
    await expect.poll(() => database.stats().leaving, { timeout: 8_000 }).toBe(0);
  });

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['incomplete', (file: string) => writeFileSync(file, testClientIdentity.certificate.slice(0, 200))],
  ])('gives up a statement although its certificate is %s', async (_, change) => {
    const certificate = put('replaced.pem', testClientIdentity.certificate);
    const key = put('replaced.key', testClientIdentity.key);
    const database = databaseOn(server, { clientCertificate: { certificate, key } });
    onTestFinished(() => database.close(0));
    await database.query(isEncrypted);
    change(certificate);
    const slow = database.query({ text: 'select pg_sleep(1)', values: [] }, { timeoutMs: 100 });
    await expect(slow).rejects.toMatchObject({ phase: 'in-flight', reason: 'deadline' });
    await expect.poll(() => database.stats().leaving, { timeout: 20_000 }).toBe(0);
    put('replaced.pem', testClientIdentity.certificate);
    expect((await database.query(isEncrypted)).rows).toEqual([[true]]);
  });
});

it('A database whose certificate has expired is refused where it is verified', async () => {
  const server = await startPostgres({}, expiredIdentity);
  onTestFinished(() => server.destroy());
  await expectRefused(ask(server, {}), /expired/);
  expect((await ask(server, { sslMode: 'require', sslRootCert: undefined })).rows).toEqual([[true]]);
});

describe('A database that requires client certificates', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    // The test harness's own first connection does not use TLS.
    const rules = [
      'hostssl all all all scram-sha-256 clientcert=verify-full',
      'hostnossl all all all scram-sha-256',
    ];
    server = await startPostgres(
      { ssl_ca_file: place('ca.pem'), hba_file: put('pg_hba.conf', `${rules.join('\n')}\n`) },
      testIdentity,
    );
  });
  afterAll(() => server?.destroy());

  const client = (name: string, { certificate, key }: typeof testIdentity): Partial<PostgresUrl> => ({
    clientCertificate: { certificate: put(`${name}.pem`, certificate), key: put(`${name}.key`, key) },
  });

  it('accepts a certificate that its authority has signed for the user', async () => {
    expect((await ask(server, client('client', testClientIdentity))).rows).toEqual([[true]]);
  });

  it('refuses a missing certificate, one with another name, or an expired one', async () => {
    await expectRefused(ask(server, {}), /client certificate/);
    await expectRefused(ask(server, client('other', testIdentity)), /authentication failed/);
    // The server's reason may or may not arrive before the connection ends.
    await expectRefused(ask(server, client('expired', expiredIdentity)), /cannot connect/);
  });
});
