import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresAdapter } from '../../runtime/databases.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { ShardDatabase } from '../../runtime/sharding/shard-database.js';
import type { ServerAddress } from './server.js';
import { serverUrl, testDataSource, topologyOf } from './topology.js';

/** `application`: tests on PostgreSQL connect as the role of docs/events.md; `owner` or unset: as the migrator. */
export const ROLE_VARIABLE = 'FW_TEST_ROLE';

export type TestRole = 'owner' | 'application';

/** The role of the tests. Its password equals its name. */
export const APPLICATION_ROLE = 'fw_test_application';

export type OwnerReason = 'retention' | 'rebase' | 'replication';

/** The role and the model tables in the example of docs/events.md. */
const PAGE_ROLE = 'wallet_app';
const PAGE_TABLES = 'wallets, transfers';

/** Reasons why a test connects as the owner even in a run under the application's role. The list is complete. */
export const OWNER_REASONS: Readonly<Record<OwnerReason, string>> = {
  retention: '`retain` creates and drops partitions, which only their owner may do (docs/events.md, Roles)',
  rebase: '`rebase` renumbers events, which the application may not change (docs/events.md, Roles)',
  replication: 'The test creates a publication or a subscription, or copies rows to another server',
};

/** @throws Error if FW_TEST_ROLE names no role */
export function roleOfRun(): TestRole {
  const role = process.env[ROLE_VARIABLE];
  if (role === undefined || role === '' || role === 'owner') return 'owner';
  if (role === 'application') return 'application';
  throw new Error(`${ROLE_VARIABLE} is '${role}'. Set it to 'application' or 'owner'.`);
}

/** The grants of docs/events.md, unchanged. */
export function documentedGrants(): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8');
  const grants = /## Roles[\s\S]*?```sql\n([\s\S]*?)```/.exec(page)?.[1];
  if (grants === undefined) throw new Error('docs/events.md has no grants under "Roles"');
  return grants;
}

/** The same grants for the tests' role and for other tables than the wallet's. */
export function applicationGrants(tables: readonly string[]): string {
  const grants = documentedGrants();
  if (!grants.includes(`, ${PAGE_TABLES} to`))
    throw new Error(`The grants of docs/events.md do not name '${PAGE_TABLES}'`);
  const list = tables.map((table) => `, ${pg.escapeIdentifier(table)}`).join('');
  return grants.replace(`, ${PAGE_TABLES} to`, `${list} to`).replaceAll(PAGE_ROLE, APPLICATION_ROLE);
}

/** Creates the role if it is missing, and grants it the documented rights. @param client the owner's */
export async function grantToApplication(client: pg.Client): Promise<void> {
  await client.query(`do $$ begin
    create role ${APPLICATION_ROLE} login password '${APPLICATION_ROLE}';
  exception when duplicate_object or unique_violation then null; end $$`);
  const { rows } = await client.query<[string]>({
    text: `select tablename from pg_tables where schemaname = 'public' order by 1`,
    rowMode: 'array',
  });
  await client.query(applicationGrants(rows.map(([table]) => table)));
}

/** Owners of the databases that tests use as the application's role, by database. */
const owners: Map<string, ServerAddress> = new Map();
const ownersDatabases: Map<string, DatabaseRegistry> = new Map();

export function rememberOwner(database: string, server: ServerAddress): void {
  owners.set(database, server);
}

export async function forgetOwner(database: string): Promise<void> {
  owners.delete(database);
  const registry = ownersDatabases.get(database);
  ownersDatabases.delete(database);
  await registry?.close(0);
}

/**
 * A shard as the owner of its schema, for the test's own queries. Equal to the registry's database unless the tests run
 * under the application's role.
 */
export function ownersDatabase(databases: DatabaseRegistry, shard: ShardIdentifier): ShardDatabase {
  const { url } = databases.memberConfig(shard).primary;
  const server = url.kind === 'postgresql' ? owners.get(url.database) : undefined;
  if (url.kind !== 'postgresql' || server === undefined) return databases.database(shard);
  const known = ownersDatabases.get(url.database);
  const source = testDataSource(serverUrl(server, url.database), server, { maximumPoolSize: 2 });
  const registry =
    known ?? new DatabaseRegistry(topologyOf([[shard, source]]), { adapters: [postgresAdapter] });
  ownersDatabases.set(url.database, registry);
  return registry.database(shard);
}

/** Rows of a statement that a test runs as the owner of the schema. */
export async function rowsAsOwner(
  databases: DatabaseRegistry,
  shard: ShardIdentifier,
  text: string,
): Promise<readonly (readonly unknown[])[]> {
  return (await ownersDatabase(databases, shard).query({ text, values: [] })).rows;
}
