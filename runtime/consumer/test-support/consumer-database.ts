import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';

/** The database of a consumer, in tests that of the shard, by a Kysely of its own until the end of the test. */
export function consumerDatabase<Tables>(databases: DatabaseRegistry): Kysely<Tables> {
  const { url, username, password } = databases.memberConfig(HERE).primary;
  if (url.kind !== 'postgresql') throw new Error('Only PostgreSQL servers');
  const { host, port, database: name } = url;
  const pool = new pg.Pool({ host, port, database: name, user: username, password: password?.reveal() });
  pool.on('error', () => {});
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  onTestFinished(() => database.destroy());
  return database;
}
