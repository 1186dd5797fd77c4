// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { describe, expect, test } from 'vitest';
import { parseJdbcUrl } from './jdbc-url.js';
import { ONE_SHARD, oneShardWith, parse, problemOf } from './test-support/configs.js';
import type { DatabaseUrl } from './types.js';

function urlOf(text: string): DatabaseUrl {
  const result = parseJdbcUrl(text, '/app');
  if ('mistakes' in result) throw new Error(JSON.stringify(result.mistakes));
  return result.url;
}

/** All mistakes, as printed. */
function mistakesOf(text: string): string {
  const result = parseJdbcUrl(text, '/app');
  if ('url' in result) throw new Error(`accepted: ${JSON.stringify(result.url)}`);
  return result.mistakes.map(({ message, hint }) => `${message} (${hint ?? ''})`).join('\n');
}

describe('PostgreSQL URLs', () => {
  const plain = {
    ...{ kind: 'postgresql', host: 'db', port: 5432, database: 'w' },
    ...{ sslMode: 'disable', sslRootCert: undefined },
  };

  test.each([
    ['jdbc:postgresql://db:5433/w', { port: 5433 }],
    ['jdbc:postgresql://db/w', {}],
    ['jdbc:postgresql://db:65535/w', { port: 65535 }],
    ['jdbc:postgresql://my_db-1.svc.cluster.local/w', { host: 'my_db-1.svc.cluster.local' }],
    ['jdbc:postgresql://[::1]:5433/w', { host: '::1', port: 5433 }],
    ['jdbc:postgresql://[2001:db8::7]/w', { host: '2001:db8::7' }],
    ['jdbc:postgresql://db/caf%C3%A9%20%2F%40', { database: 'café /@' }],
    ['jdbc:postgresql://db/w?sslmode=verify-full', { sslMode: 'verify-full' }],
    [
      'jdbc:postgresql://db/w?sslmode=verify-full&sslrootcert=certs%2Fca.pem',
      { sslMode: 'verify-full', sslRootCert: '/app/certs/ca.pem' },
    ],
    [
      'jdbc:postgresql://db/w?sslmode=require&sslcert=me.pem&sslkey=/keys/me.pem',
      { sslMode: 'require', clientCertificate: { certificate: '/app/me.pem', key: '/keys/me.pem' } },
    ],
  ])('%s', (text, parts) => {
    expect(urlOf(text)).toEqual({ ...plain, ...parts });
  });

  test.each([
    'jdbc:postgresql://wallet:hunter2@db/w',
    'jdbc:postgresql://wallet:hun/ter2@db/w',
    'jdbc:postgresql://wallet:hunter2?x@db/w',
    'jdbc:postgresql://wallet@db/w',
    'jdbc:postgresql://db/w?user=wallet&password=hunter2',
    'jdbc:postgresql://db/w?Password=hun&ter2=x',
  ])('%s holds credentials and shows none of them', (text) => {
    expect(mistakesOf(text)).toMatch(/^the URL contains credentials \(.*\)$/);
    expect(mistakesOf(text)).not.toMatch(/hun|ter2/);
  });

  test.each([
    'jdbc:postgresql://wallet:hunter2/w',
    'jdbc:hunter2!',
    'hunter2',
    'jdbc:postgresql://db/w?h!unter2=1',
  ])('a misplaced password does not show: %s', (text) => {
    expect(mistakesOf(text)).not.toContain('unter2');
  });
});

describe('URLs of the embedded database', () => {
  test.each([
    ['jdbc:pglite:file:./data/global', { storage: 'file', location: '/app/data/global' }],
    ['jdbc:pglite:file:data', { storage: 'file', location: '/app/data' }],
    ['jdbc:pglite:file:/var/lib/wallet', { storage: 'file', location: '/var/lib/wallet' }],
    ['jdbc:pglite:file:my data/x', { storage: 'file', location: '/app/my data/x' }],
    ['jdbc:pglite:mem:global-1', { storage: 'mem', location: 'global-1' }],
  ])('%s', (text, parts) => {
    expect(urlOf(text)).toEqual({ kind: 'pglite', ...parts });
  });
});

describe('in a configuration', () => {
  const URL = 'jdbc:postgresql://localhost:5432/wallet_global';

  test('the driver class must match the URL', () => {
    const drivers = (url: string, driver: string): string =>
      `${oneShardWith(URL, url)}                driver-class-name: ${driver}\n`;
    expect(() => parse(drivers(URL, 'org.postgresql.Driver'))).not.toThrow();
    expect(() => parse(drivers('jdbc:pglite:mem:x', 'fw.pglite.Driver'))).not.toThrow();
    for (const text of [
      drivers(URL, 'fw.pglite.Driver'),
      drivers('jdbc:pglite:mem:x', 'org.postgresql.Driver'),
    ])
      expect(problemOf(text).message).toMatch(
        /^this driver class does not belong to jdbc:(postgresql|pglite)$/,
      );
  });

  test('a URL from the environment is checked, and not shown', () => {
    const text = oneShardWith(URL, '"${DB_URL}"');
    expect(() => parse(text, { env: { DB_URL: URL } })).not.toThrow();
    const problem = problemOf(text, { env: { DB_URL: 'jdbc:postgresql://wallet:hunter2@db/w' } });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });

  test('the embedded database needs no user', () => {
    const text = ONE_SHARD.replace(URL, 'jdbc:pglite:mem:x').replace(/ *username: wallet\n/, '');
    expect(parse(text).sharding.groups[0]?.members[0]?.primary.username).toBeUndefined();
  });
});
