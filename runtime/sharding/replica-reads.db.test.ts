import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource } from '../../test/databases/topology.js';
import { assembleApplication } from '../application.js';
import type { MemberConfig, ShardingTopology } from '../config/types.js';
import { postgresAdapter } from '../databases.js';
import type { LogEntry } from '../domain/logger.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardIdentityError, ValidationError } from '../errors.js';
import { accountApplication } from '../execution/test-support/accounts.js';
import { collectLog } from '../http/test-support/collect-log.js';
import { migrate } from '../migration/migrate.js';
import { readOnlyKysely } from '../persistence/read/kysely-dialect.js';
import { DatabaseRegistry } from './database-registry.js';
import { DriverFailure } from './driver-failure.js';
import { type ReplicaRead, ReplicaReads } from './replica-reads.js';
import type { CallOptions, Rows, ShardDatabase } from './shard-database.js';

const SHARD = ShardIdentifier.of(1, 0);
const SEEN = [
  { name: '0001_seen', up: 'create table seen (number int4 primary key); insert into seen values (1)' },
];

let primary: PostgresServer;
let replica: PostgresServer;
let databases: DatabaseRegistry;
let reads: ReplicaReads;
const entries: LogEntry[] = [];

beforeAll(async () => {
  primary = await startPostgres();
  const alone = registry(primary, undefined);
  await migrate(alone, { migrations: SEEN });
  await alone.close();
  replica = await primary.standby();
  databases = registry(primary, replica);
  reads = new ReplicaReads(databases, { log: collectLog(entries) });
});

afterAll(async () => {
  await databases?.close(0);
  await replica?.destroy();
  await primary?.destroy();
});

function registry(
  server: PostgresServer,
  follower: PostgresServer | undefined,
  shard = SHARD,
): DatabaseRegistry {
  const source = (at: PostgresServer) => testDataSource(serverUrl(at, 'postgres'), at);
  const member: MemberConfig = {
    shard,
    name: 'one',
    primary: source(server),
    secondary: follower === undefined ? undefined : source(follower),
    others: {},
  };
  const group = { group: shard.group, name: 'group', members: [member] };
  const topology: ShardingTopology = { defaultShard: shard, groups: [group] };
  return new DatabaseRegistry(topology, { adapters: [postgresAdapter] });
}

async function read(
  options: ReplicaRead,
  limits?: CallOptions,
): Promise<{ readonly count: unknown; readonly onReplica: unknown }> {
  const text = 'select count(*)::int4, pg_is_in_recovery() from seen';
  const { rows } = await reads
    .reader(SHARD, options)
    .read((database) => database.query({ text, values: [] }), limits);
  return { count: rows[0]?.[0], onReplica: rows[0]?.[1] };
}

/** As queries of repositories do. */
async function readInTransaction(options: ReplicaRead): Promise<unknown> {
  const text = sql`select count(*)::int4, pg_is_in_recovery() as "onReplica" from seen`;
  const { rows } = await text.execute(readOnlyKysely(reads.reader(SHARD, options)));
  return rows[0];
}

const onReplica = (text: string) => databases.replica(SHARD)?.query({ text, values: [] });
const write = () =>
  databases.database(SHARD).query({ text: 'insert into seen select max(number) + 1 from seen', values: [] });

describe('A read that a streaming replica may serve', () => {
  it('goes to the replica, and waits until that has replayed its caller’s writes', async () => {
    expect(await read({})).toEqual({ count: 1, onReplica: true });
    await write();
    const after = await reads.positions([SHARD]);
    expect(await read({ after, waitMs: 5_000 })).toEqual({ count: 2, onReplica: true });
  });

  it('goes to the primary if the replica lags too long', async () => {
    await onReplica('select pg_wal_replay_pause()');
    try {
      await write();
      const after = await reads.positions([SHARD]);
      expect(await read({})).toEqual({ count: 2, onReplica: true });
      expect(await read({ after })).toEqual({ count: 3, onReplica: false });
      expect(await read({ after, waitMs: 50 })).toEqual({ count: 3, onReplica: false });
      // The wait is longer than half of the time limit. Other readers still use the replica.
      expect(await read({ after, waitMs: 5_000 }, { timeoutMs: 1_000 })).toEqual({
        count: 3,
        onReplica: false,
      });
      expect(await read({})).toEqual({ count: 2, onReplica: true });
      expect(reads.skips(SHARD)).toEqual({ behind: 3, slow: 0, unreachable: 0, cancelled: 0, promoted: 0 });
    } finally {
      await onReplica('select pg_wal_replay_resume()');
    }
    expect(await read({ after: await reads.positions([SHARD]), waitMs: 5_000 })).toEqual({
      count: 3,
      onReplica: true,
    });
  });

  it('refuses an invalid position', async () => {
    await expect(read({ after: new Map([[SHARD, "0/0' or true"]]) })).rejects.toThrow(ValidationError);
  });

  it('is refused by the replica of another shard', async () => {
    const other = ShardIdentifier.of(0, 0);
    const wrong = registry(primary, replica, other);
    onTestFinished(() => wrong.close(0));
    const reader = new ReplicaReads(wrong).reader(other, {});
    const asked = reader.read((database) => database.query({ text: 'select 1', values: [] }));
    await expect(asked).rejects.toThrow(ShardIdentityError);
  });

  it('goes to the primary if the replica hangs', async () => {
    const text = 'select case when pg_is_in_recovery() then pg_sleep(30)::text end, pg_is_in_recovery()';
    let ended = 0;
    const work = (database: ShardDatabase): Promise<Rows> =>
      database.query({ text, values: [] }).finally(() => {
        ended += 1;
      });
    const { rows } = await reads.reader(SHARD, {}).read(work, { timeoutMs: 2_000 });
    expect(rows).toEqual([[null, false]]);
    // That of the replica still runs.
    expect(ended).toBe(1);
    expect(reads.skips(SHARD).slow).toBe(1);
    // The replica is skipped for a second.
    await expect.poll(async () => (await read({})).onReplica, { timeout: 10_000 }).toBe(true);
  });

  it('goes to the primary while the replica is down, and to the replica afterwards', async () => {
    expect(await readInTransaction({})).toEqual({ count: 3, onReplica: true });
    await replica.stop('immediate');
    for (let round = 0; round < 3; round += 1) {
      expect(await readInTransaction({})).toEqual({ count: 3, onReplica: false });
      expect(await read({})).toEqual({ count: 3, onReplica: false });
      expect(reads.skips(SHARD).unreachable).toBe(2 * (round + 1));
      // The replica is skipped for a second after a failure.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    await replica.start();
    const giveUpAt = Date.now() + 10_000;
    while ((await read({})).onReplica !== true && Date.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await read({})).toEqual({ count: 3, onReplica: true });
  });

  it('is repeated on the primary if the replica cancels it in favour of replay', async () => {
    const conflict = new DriverFailure('cancelled', { phase: 'answered', sqlState: '40001' });
    const found = await reads
      .reader(SHARD, {})
      .read((database) => (database === databases.replica(SHARD) ? Promise.reject(conflict) : read({})));
    expect(found).toEqual({ count: 3, onReplica: true });
    expect(reads.skips(SHARD).cancelled).toBe(1);
  });

  it('goes to the primary once the replica was promoted, and every reason is logged', async () => {
    const after = await reads.positions([SHARD]);
    await onReplica('select pg_promote()');
    await write();
    await expect.poll(async () => (await read({})).count, { timeout: 10_000 }).toBe(4);
    expect(await read({ after })).toMatchObject({ count: 4 });
    expect(reads.skips(SHARD).promoted).toBeGreaterThan(0);
    const reasons = entries.map(({ level, reason }) => `${level} ${String(reason)}`);
    expect(new Set(reasons)).toEqual(
      new Set(['info behind', 'warn slow', 'warn unreachable', 'warn cancelled', 'warn promoted']),
    );
    expect(entries.at(-1)).toMatchObject({
      shard: '(1, 0)',
      message: expect.stringContaining('is not a standby'),
    });
    const logged: LogEntry[] = [];
    const options = { namespace: 'test', collaborators: {}, log: collectLog(logged) };
    const { repositories, statistics } = assembleApplication(accountApplication, databases, options);
    await sql`select`.execute(repositories.queries(SHARD, { replica: {} }));
    expect(statistics()[0]?.replicaSkips).toMatchObject({ promoted: 1 });
    expect(logged).toEqual([expect.objectContaining({ level: 'warn', reason: 'promoted' })]);
  });
});
