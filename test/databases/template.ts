import { createHash } from 'node:crypto';
import pg from 'pg';
import { postgresAdapter } from '../../runtime/databases.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { migrate } from '../../runtime/migration/migrate.js';
import type { Migration } from '../../runtime/migration/migration.js';
import { systemMigrations } from '../../runtime/migration/system-migrations.js';
import { DEFAULT_PARTITION_DAYS } from '../../runtime/retention/make-partitions.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { APPLICATION_ROLE, documentedGrants, grantToApplication, roleOfRun, type TestRole } from './roles.js';
import type { ServerAddress } from './server.js';
import { serverUrl, testDataSource, topologyOf } from './topology.js';

const TEMPLATE_PREFIX = 'fw_template_';
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Templates that this process knows to exist, by server and name. */
const ready: Map<string, Promise<void>> = new Map();

interface Template {
  readonly name: string;
  readonly shard: ShardIdentifier;
  readonly migrations: readonly Migration[];
  readonly role: TestRole;
}

/**
 * Creates a database: a copy of a migrated template, or an empty one without `migrations`.
 *
 * @param role `application`: the application's role gets the rights of docs/events.md. Default: `owner`, without grants
 */
export async function cloneDatabase(
  server: ServerAddress,
  database: string,
  shard: ShardIdentifier,
  migrations: readonly Migration[] | undefined,
  role: TestRole = 'owner',
): Promise<void> {
  if (migrations === undefined) {
    await administer(server, `create database ${database}`);
    return;
  }
  const name = templateName(shard, migrations, role);
  const place = `${server.host}:${server.port}/${name}`;
  const known = ready.get(place) ?? makeTemplate(server, { name, shard, migrations, role });
  ready.set(place, known);
  await known;
  await administer(server, `create database ${database} template ${name}`);
}

export function dropDatabase(server: ServerAddress, database: string): Promise<void> {
  return administer(server, `drop database if exists ${database} with (force)`);
}

/** Drops the databases of earlier tests on an external server. */
export async function dropTestDatabases(server: ServerAddress): Promise<void> {
  await withClient(server, async (client) => {
    const { rows } = await client.query<[string]>({
      text: `select datname from pg_database where datname ~ '^fw_(test|template)_'`,
      rowMode: 'array',
    });
    for (const [name] of rows)
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    await client.query(`drop role if exists ${APPLICATION_ROLE}`);
  });
}

/** What a migrated database depends on: its migrations, and the week, because the first one makes partitions ahead. */
export function migrationsKey(shard: ShardIdentifier, migrations: readonly Migration[]): string {
  const period = Math.floor(Date.now() / (DEFAULT_PARTITION_DAYS * DAY_MS));
  const text = JSON.stringify([shard.bits, systemMigrations, migrations, period]);
  return createHash('sha256').update(text).digest('hex');
}

function templateName(shard: ShardIdentifier, migrations: readonly Migration[], role: TestRole): string {
  const grants = role === 'owner' ? '' : documentedGrants();
  const text = migrationsKey(shard, migrations) + grants;
  return `${TEMPLATE_PREFIX}${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

/** If several test processes need the same template, one creates it and the others wait. */
async function makeTemplate(
  server: ServerAddress,
  { name: template, shard, migrations, role }: Template,
): Promise<void> {
  await withClient(server, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [template]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount !== 0) return;
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await migrateDatabase(server, draft, shard, migrations);
    if (role === 'application') await withClient({ ...server, database: draft }, grantToApplication);
    // Renamed only when the template is complete.
    await client.query(`alter database ${draft} rename to ${template}`);
  });
}

/**
 * Migrates a database on a test's own server.
 *
 * @returns the address for the run's role: the owner, or the application's role (`FW_TEST_ROLE`)
 */
export async function prepareServer(
  server: ServerAddress,
  shard: ShardIdentifier,
  migrations: readonly Migration[],
): Promise<Pick<ServerAddress, 'user' | 'password'>> {
  await migrateDatabase(server, server.database, shard, migrations);
  if (roleOfRun() === 'owner') return server;
  await withClient(server, grantToApplication);
  return { user: APPLICATION_ROLE, password: APPLICATION_ROLE };
}

async function migrateDatabase(
  server: ServerAddress,
  database: string,
  shard: ShardIdentifier,
  migrations: readonly Migration[],
): Promise<void> {
  const source = testDataSource(serverUrl(server, database), server);
  const registry = new DatabaseRegistry(topologyOf([[shard, source]]), { adapters: [postgresAdapter] });
  try {
    await migrate(registry, { migrations });
  } finally {
    await registry.close(0);
  }
}

function administer(server: ServerAddress, sql: string): Promise<void> {
  return withClient(server, async (client) => {
    // The server refuses while a template is being copied, or while a session is ending.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.query(sql);
        return;
      } catch (error) {
        if (!(error instanceof pg.DatabaseError && error.code === '55006') || attempt === 20) throw error;
        await client.query('select pg_sleep(0.05)');
      }
    }
  });
}

async function withClient(server: ServerAddress, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const { host, port, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
