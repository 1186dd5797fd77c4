import { spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import type { DataSourceConfig } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { compileProgram } from '../execution/test-support/compiled-program.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrate } from './migrate.js';
import { migrationStatus } from './migration-status.js';
import { systemMigrations } from './system-migrations.js';
import type { MigratingPlan } from './test-support/migrating-process.js';

const SHARDS = 6;
const accounts = { name: '0001_accounts', up: 'create table accounts (id uuid primary key)' };
const slow = { name: '0002_slow', up: 'create table slow (id uuid); select pg_sleep(0.2)' };
const last = { name: '0003_last', up: 'create table last (id uuid)' };

let server: PostgresServer;
let names: readonly string[];

beforeAll(async () => {
  // Durability does not matter here, and creating databases mostly waits for the disk.
  server = await startPostgres({ fsync: 'off', full_page_writes: 'off' });
  names = Array.from({ length: SHARDS }, (_, index) => `shard_${index}`);
  const client = new pg.Client({ ...server });
  await client.connect();
  for (const name of names) await client.query(`create database ${name}`);
  await client.end();
}, 180_000);
afterAll(() => server?.destroy(), 180_000);

const urlOf = (name: string): DataSourceConfig['url'] => serverUrl(server, name);
const shardOf = (index: number): ShardIdentifier => ShardIdentifier.of(0, index);

function open(): DatabaseRegistry {
  const sources = names.map((name, index) => {
    const source = testDataSource(urlOf(name), server, { allowUnsafe: ['fsync', 'full_page_writes'] });
    return [shardOf(index), source] as const;
  });
  return openDatabases(topologyOf(sources));
}

it('Migrations that were killed half-way are resumed: every shard gets every migration once', async () => {
  const program = compileProgram(join(import.meta.dirname, 'test-support', 'migrating-process.ts'));
  const databases = open();
  const migrations = [accounts, slow, last];
  try {
    const plan: MigratingPlan = { urls: names.map(urlOf), user: server, migrations };
    await killedAfter(program.path, plan, 'applied application migration 0001_accounts', 3);
    const before = await migrationStatus(databases, { migrations });
    const states = before.map(({ pending }) => pending.length);
    // Some shards are done, one is in progress, some have not started.
    expect(new Set(states).size).toBeGreaterThan(1);
    expect(states).toContain(migrations.length + systemMigrations.length);
    await migrate(databases, { migrations });
    const after = await migrationStatus(databases, { migrations });
    expect(after.map(({ state, applied }) => [state, applied])).toEqual(
      Array.from({ length: SHARDS }, () => ['current', migrations.length + systemMigrations.length]),
    );
  } finally {
    await databases.close(0);
    program.remove();
  }
}, 60_000);

/** Kills the process with SIGKILL once it has printed `text` the given number of times. */
async function killedAfter(path: string, plan: MigratingPlan, text: string, times: number): Promise<void> {
  const child = spawn(process.execPath, [path, JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const onData = (chunk: Buffer): void => {
    said += chunk.toString();
    if (said.split(text).length > times) child.kill('SIGKILL');
  };
  child.stdout.on('data', onData);
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const signal = await new Promise((resolve) => child.once('close', (_, name) => resolve(name)));
  if (signal !== 'SIGKILL') throw new Error(`The process ended by itself: ${said}`);
}
