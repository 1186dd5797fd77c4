import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardIdentifier } from 'fw-actions';
import { fixedPrincipal } from 'fw-actions/http';
import pg from 'pg';
import { serveApplication } from '../../../runtime/http/process/serve-application.js';
import type { FakeProcess } from '../../../runtime/http/test-support/fake-process.js';
import type { ServerAddress } from '../../../test/databases/server.js';
import { application } from '../generated/application.js';
import { OWNER, storedWallet } from './wallets.js';

/** A shard of a configuration file. */
export interface Member {
  readonly shard: ShardIdentifier;
  readonly server: ServerAddress;
  readonly database: string;
  /** Default: the user of the server. */
  readonly user?: string;
  readonly password?: string;
  readonly draining?: boolean;
  /** Further keys of the data source. */
  readonly source?: object;
}

/** A configuration file with these shards. The first one is the default shard. */
export function configurationOf(members: readonly Member[], keys: object = {}): string {
  const numbers = [...new Set(members.map(({ shard }) => shard.group))];
  const groups = numbers.map((group) => ({
    ...{ group, name: `group-${group}` },
    members: members.filter(({ shard }) => shard.group === group).map(memberJson),
  }));
  const { group = 0, member = 0 } = members[0]?.shard ?? {};
  const sharding = { 'default-shard': { group, member }, groups };
  return JSON.stringify({ fw: { namespace: 'test', sharding, ...keys } });
}

function memberJson({ shard, server, database, draining = false, source, ...login }: Member): object {
  const { user = server.user, password = server.password } = login;
  const url = `jdbc:postgresql://${server.host}:${server.port}/${database}`;
  const primary = { 'jdbc-url': url, username: user, password, ...source };
  return { member: shard.member, name: database, draining, configs: { 'primary-config': primary } };
}

/** Serves the wallet to an operator, with this configuration in a file of the folder. */
export function serveWallet(
  folder: string,
  configuration: string,
  port: FakeProcess,
): ReturnType<typeof serveApplication> {
  const config = join(folder, 'fw.config.yaml');
  writeFileSync(config, configuration);
  const authenticator = fixedPrincipal('tester', { role: 'operator' });
  const argv = ['--config', config, '--port', '0'];
  return serveApplication(application, { authenticator, collaborators: {}, env: {}, argv }, port);
}

/** Runs SQL as the owner of a server. */
export async function sql(
  server: ServerAddress,
  text: string,
  database: string = server.database,
): Promise<readonly (readonly unknown[])[]> {
  const { host, port, user, password } = server;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    // Several statements have several results.
    const result = await client.query<unknown[]>({ text, rowMode: 'array' });
    return Array.isArray(result) ? [] : result.rows;
  } finally {
    await client.end();
  }
}

/** Adds an empty wallet to the database of a shard. @returns its id */
export async function insertWallet({ server, shard, database }: Member): Promise<string> {
  const id = storedWallet({ shard }).id.toString();
  await sql(
    server,
    `insert into wallets (id, version, state, owner_id, currency, balance, created_date, updated_date)
     values ('${id}', 1, 'OPENED', '${OWNER}', 'EUR', 0, now(), now())`,
    database,
  );
  return id;
}
