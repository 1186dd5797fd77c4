import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { documentedGrants } from '../../test/databases/roles.js';
import { type PostgresServer, type ServerAddress, startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import type { DataSourceConfig, ShardingTopology } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { storeDefaultShard } from '../migration/default-shard.js';
import { migrate } from '../migration/migrate.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { forwarding } from '../sharding/forwarding.js';
import { requireOwnLog } from '../sharding/log-server.js';
import { ProcessRegister } from '../sharding/process-register.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { idOn, insertStep, pretendFailover } from '../sharding/test-support/failovers.js';
import { whileHeld } from '../sharding/test-support/statements.js';
import { examine } from './examine.js';
import type { CheckResult, Finding } from './finding.js';
import { checkReplica } from './replica-check.js';
import { checkClock, checkVersion } from './shard-checks.js';

const [A, B] = [ShardIdentifier.of(1, 0), ShardIdentifier.of(1, 1)];
const things = { name: '0001_things', up: 'create table things (id uuid primary key)' };
const application = { migrations: [things], tables: [{ table: 'things', sharded: true, columns: [] }] };

let primary: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  primary = await startPostgres({ fsync: 'off', full_page_writes: 'off' });
  await onServer(
    'create database shard_a',
    'create database shard_b',
    "create role clerk login password 'clerk'",
  );
  await withDatabases(topologyOf([member(A, 'shard_a'), member(B, 'shard_b')]), (databases) =>
    migrate(databases, { migrations: [things] }),
  );
  standby = await primary.standby();
}, 120_000);

afterAll(async () => {
  await standby?.destroy();
  await primary?.destroy();
}, 120_000);

function source(name: string, overrides: Partial<DataSourceConfig> = {}, at: ServerAddress = primary) {
  return testDataSource(serverUrl(at, name), at, {
    allowUnsafe: ['fsync', 'full_page_writes'],
    ...overrides,
  });
}

function member(
  shard: ShardIdentifier,
  name: string,
  overrides: Partial<DataSourceConfig> = {},
  at?: ServerAddress,
) {
  return [shard, source(name, overrides, at)] as const;
}

/** A topology with shard A and a replica. */
function replicated(secondary: DataSourceConfig): ShardingTopology {
  const topology = topologyOf([member(A, 'shard_a')]);
  const groups = topology.groups.map((group) => ({
    ...group,
    members: group.members.map((each) => ({ ...each, secondary })),
  }));
  return { ...topology, groups };
}

async function withDatabases<T>(
  topology: ShardingTopology,
  work: (databases: DatabaseRegistry) => Promise<T>,
): Promise<T> {
  const databases = openDatabases(topology, { warn: () => {} });
  try {
    return await work(databases);
  } finally {
    await databases.close(0);
  }
}

async function onServer(...statements: readonly string[]): Promise<void> {
  await withDatabases(topologyOf([member(A, 'postgres')]), async (databases) => {
    for (const text of statements) await databases.database(A).query({ text, values: [] });
  });
}

function examined(topology: ShardingTopology): Promise<readonly Finding[]> {
  return withDatabases(topology, (databases) => examine(databases, { topology, application }));
}

async function found(topology: ShardingTopology, check: string): Promise<readonly Finding[]> {
  return (await examined(topology)).filter((finding) => finding.check === check);
}

describe('The doctor on real servers', () => {
  it('reports a database that is not in UTF8', async () => {
    await onServer("create database latin encoding 'LATIN1' locale 'C' template template0");
    expect(await found(topologyOf([member(A, 'latin')]), 'version')).toMatchObject([
      { level: 'fault', found: expect.stringContaining('encoding LATIN1') },
    ]);
  });

  it('reports settings that lose acknowledged commits, as a fault or, if allowed by name, a warning', async () => {
    const strict = topologyOf([member(A, 'shard_a', { allowUnsafe: ['fsync'] })]);
    expect(await found(strict, 'durability')).toMatchObject([
      { subject: '(1, 0)', level: 'fault', found: 'fsync off, full_page_writes off' },
    ]);
    expect(await found(topologyOf([member(A, 'shard_a')]), 'durability')).toMatchObject([
      { level: 'warning', found: 'fsync off, full_page_writes off, allowed' },
    ]);
    // A session setting, which a role's or a database's own setting also produces.
    await onServer('alter role fw_test set synchronous_commit = off');
    onTestFinished(() => onServer('alter role fw_test reset synchronous_commit'));
    expect(await found(topologyOf([member(A, 'shard_a')]), 'durability')).toMatchObject([
      { level: 'fault', found: expect.stringContaining('synchronous_commit off') },
    ]);
  });

  it('reports roles with too many rights, and roles with too few', async () => {
    expect(await found(topologyOf([member(A, 'shard_a')]), 'rights')).toMatchObject([
      { level: 'warning', found: 'the user is a superuser' },
    ]);
    const clerk = { username: 'clerk', password: { reveal: () => 'clerk' } };
    const seen = async () => {
      const topology = topologyOf([member(A, 'shard_a', clerk)]);
      return new Map(
        (await examined(topology))
          .filter(
            ({ check, level, found: text }) =>
              check !== 'drift' && level !== 'ok' && !text.includes('CREATE'),
          )
          .map(({ check, level, found: text }) => [check, `${level}: ${text}`]),
      );
    };
    const grant = (grants: string) =>
      withDatabases(topologyOf([member(A, 'shard_a')]), async (databases) => {
        for (const text of grants.split(';').filter((each) => each.trim() !== ''))
          await databases.database(A).query({ text, values: [] });
      });
    const unsafe = ['durability', 'warning: fsync off, full_page_writes off, allowed'] as const;
    // Each other check reports what it could not do.
    expect(await seen()).toEqual(
      new Map([
        unsafe,
        ['rights', 'fault: the user lacks the rights usage on schema eventlog'],
        ['residency', 'fault: not checked: permission denied for schema eventlog'],
        ['default shard', 'fault: not checked: permission denied for schema eventlog'],
      ]),
    );
    await grant(documentedGrants().replaceAll('wallet_app', 'clerk').replace('wallets, transfers', 'things'));
    expect(await seen()).toEqual(new Map([unsafe]));
    await grant('revoke update on things from clerk; revoke insert on eventlog.events from clerk');
    expect((await seen()).get('rights')).toBe(
      'fault: the user lacks the rights insert on eventlog.events, update on "things"',
    );
  });

  it('reports a read-only database: by a setting, or a standby', async () => {
    expect(await found(topologyOf([member(A, 'shard_a', {}, standby)]), 'rights')).toMatchObject([
      { level: 'fault', found: 'a standby' },
      { level: 'warning' },
    ]);
    await onServer('alter database shard_b set default_transaction_read_only = on');
    onTestFinished(() => onServer('alter database shard_b reset default_transaction_read_only'));
    expect(await found(topologyOf([member(B, 'shard_b')]), 'rights')).toMatchObject([
      { level: 'fault', found: 'read-only' },
      { level: 'warning' },
    ]);
  });

  it('checks replicas: one that follows, one of another shard, one that follows none, one that is down', async () => {
    const replica = (secondary: DataSourceConfig) => found(replicated(secondary), 'replica');
    expect(await replica(source('shard_a', {}, standby))).toMatchObject([
      { subject: '(1, 0)', level: 'ok', found: expect.stringMatching(/shard_a, \d+ ms behind$/) },
    ]);
    expect(await replica(source('shard_b', {}, standby))).toMatchObject([
      { level: 'fault', found: expect.stringContaining('is shard (1, 1)') },
    ]);
    expect(await replica(source('shard_a'))).toMatchObject([
      { level: 'fault', found: expect.stringContaining('is not a standby') },
    ]);
    expect(await replica(source('shard_z', {}, standby))).toMatchObject([
      { level: 'warning', advice: 'Reads go to the primary until the replica answers.' },
    ]);
  });

  it('reports another default shard than the databases store, also beside a server that runs with that one', async () => {
    const topology = topologyOf([member(A, 'shard_a'), member(B, 'shard_b')]);
    const other = { ...topology, defaultShard: B };
    expect(await found(other, 'default shard')).toEqual([]);
    await withDatabases(topology, async (databases) => {
      await storeDefaultShard(databases.database(A), A);
      const process = new ProcessRegister(databases, { id: 'serving', name: 'serving' });
      process.runs(topology);
      try {
        expect(await found(topology, 'default shard')).toEqual([]);
        expect(await found(other, 'default shard')).toEqual([
          {
            subject: '(1, 0)',
            check: 'default shard',
            level: 'fault',
            found: 'the database belongs to a cluster whose default shard is (1, 0); this file has (1, 1)',
            advice: expect.stringContaining('set fw.sharding.default-shard to (1, 0)'),
          },
        ]);
        await expect
          .poll(() => found(other, 'topology'), { timeout: 60_000 })
          .toMatchObject([{ subject: 'serving', level: 'warning' }]);
      } finally {
        await process.stop();
        await databases.database(A).query({ text: 'delete from eventlog.default_shard', values: [] });
      }
    });
  });

  it('reports processes that run another topology than this file', async () => {
    const topology = topologyOf([member(A, 'shard_a'), member(B, 'shard_b')]);
    const older = topologyOf([member(A, 'shard_a')]);
    const rotated = topologyOf([
      member(A, 'shard_a', { password: { reveal: () => 'another' } }),
      member(B, 'shard_b'),
    ]);
    await withDatabases(topology, async (databases) => {
      const [first, second] = ['web-1:17', 'web-2:18'].map(
        (name) => new ProcessRegister(databases, { id: name, name }),
      );
      first?.runs(rotated);
      second?.runs(older);
      const processes = async () =>
        (await found(topology, 'topology')).map(({ subject, level }) => [subject, level]);
      await expect.poll(processes, { timeout: 60_000 }).toEqual([
        ['web-1:17', 'ok'],
        ['web-2:18', 'warning'],
      ]);
      second?.runs(topology);
      await expect.poll(async () => (await processes())[1], { timeout: 60_000 }).toEqual(['web-2:18', 'ok']);
      await second?.stop();
      expect(await processes()).toEqual([['web-1:17', 'ok']]);
      await databases.database(A).query({
        text: "update eventlog.processes set seen_date = now() - interval '40 seconds'",
        values: [],
      });
      expect(await found(topology, 'topology')).toMatchObject([
        {
          subject: 'web-1:17',
          level: 'warning',
          found: expect.stringMatching(/^has sent no heartbeat for 4\d s$/),
        },
      ]);
      await databases.database(A).query({
        text: "update eventlog.processes set seen_date = now() - interval '5 minutes'",
        values: [],
      });
      expect(await processes()).toEqual([]);
      await first?.stop();
    });
  });

  it('says what it could not check while a table is locked', async () => {
    const topology = topologyOf([member(A, 'shard_a')]);
    await withDatabases(topology, async (databases) => {
      await whileHeld(databases.database(A), 'lock table things in access exclusive mode', async () => {
        const findings = await examine(databases, { topology, application });
        const unchecked = findings.filter(({ check }) => check === 'residency' || check === 'drift');
        expect(unchecked).toMatchObject([
          { level: 'warning', found: expect.stringMatching(/^things was not scanned: .*lock/) },
          { level: 'warning', found: expect.stringMatching(/^not checked: .*lock/) },
        ]);
      });
    });
  });

  it('advises to migrate while migrations are pending, not to write another one', async () => {
    await onServer('create database shard_new');
    const topology = topologyOf([member(A, 'shard_new')]);
    await withDatabases(topology, (databases) => migrate(databases, { migrations: [] }));
    expect(await found(topology, 'drift')).toMatchObject([
      { level: 'fault', found: 'table things does not exist', advice: 'Run fw-gen migrate up first.' },
    ]);
  });

  it('reports a failover, as a fault if a loss is known, until it is acknowledged', async () => {
    const topology = topologyOf([member(A, 'shard_a'), member(B, 'shard_b')]);
    const failovers = async () =>
      (await found(topology, 'failover')).map(({ subject, level, found: text }) => [subject, level, text]);
    expect(await failovers()).toEqual([]);
    await withDatabases(topology, async (databases) => {
      const register = await pretendFailover(databases.database(A));
      const moved = 'moved from timeline 00000000 to 00000001: a standby was promoted or a backup restored';
      expect(await failovers()).toEqual([['(1, 0)', 'warning', moved]]);

      await register.report('Mailer', ['e1', 'e2']);
      const ahead = 'Mailer has handled at least 2 events that are lost, the first one e1';
      expect(await failovers()).toEqual([['(1, 0)', 'fault', `${moved}; ${ahead}`]]);

      const sagas = [idOn(A), idOn(A), idOn(A)];
      for (const saga of sagas) await insertStep(databases.database(B), saga);
      const [[, level, text] = []] = await failovers();
      expect([level, text]).toEqual(['fault', expect.stringMatching(/ saga is gone; 1 more$/)]);
      expect(text).toContain(`(1, 1) has step 1 PAYING of saga ${sagas[0]} since `);

      await register.acknowledge(await register.unacknowledged());
      expect(await failovers()).toEqual([]);
    });
  });

  it('reports a log that another server has written', async () => {
    const topology = topologyOf([member(A, 'shard_a')]);
    await withDatabases(topology, async (databases) => {
      const database = databases.database(A);
      await requireOwnLog(database);
      expect(await found(topology, 'delivery')).toEqual([]);
      await database.query({
        text: "update eventlog.delivery_epochs set system_identifier = '1'",
        values: [],
      });
      const waits = /^The outbox of shard \(1, 0\) was written on .+, then run fw-gen events rebase$/;
      expect(await found(topology, 'delivery')).toMatchObject([
        { subject: '(1, 0)', level: 'fault', found: expect.stringMatching(waits) },
      ]);
      await database.query({ text: 'delete from eventlog.delivery_epochs', values: [] });
    });
  });

  it('lists the connections to each shard, by the name and the address of each process', async () => {
    const topology = topologyOf([member(A, 'shard_a'), member(B, 'shard_b')]);
    const named = topologyOf([member(A, 'shard_a', { applicationName: 'web-1' })]);
    await withDatabases(named, async (other) => {
      await other.database(A).query({ text: 'select 1', values: [] });
      // Connections of other tests take a moment to end.
      await expect
        .poll(async () => (await found(topology, 'connected')).map((each) => [each.subject, each.found]), {
          timeout: 60_000,
        })
        .toEqual([
          ['(1, 0)', 'web-1 from 127.0.0.1: 1'],
          ['(1, 1)', 'no other client'],
        ]);
    });
  });
});

/** A database that answers some queries differently. */
function answering(
  database: ShardDatabase,
  answers: (row: readonly unknown[]) => readonly unknown[],
): ShardDatabase {
  return forwarding(database, {
    query: async (statement, options): Promise<Rows> => {
      const result = await database.query(statement, options);
      return { ...result, rows: result.rows.map(answers) };
    },
  });
}

describe('The doctor on simulated servers', () => {
  const check = (work: (databases: DatabaseRegistry) => Promise<readonly CheckResult[]>) =>
    withDatabases(replicated(source('shard_a', {}, standby)), work);

  it.each([
    [0, 'ok', /^no skew$/],
    [-9_000, 'warning', /ms apart$/],
    [9_000, 'warning', /ms apart$/],
    [60_000, 'fault', /ms apart$/],
    [-60_000, 'fault', /ms apart$/],
  ])('a clock that differs by %d ms', async (skewMs, level, text) => {
    const results = await check(async (databases) => {
      const database = answering(databases.database(A), ([time]) => [new Date(Number(time) + skewMs)]);
      // The first call opens the connection, which takes longer than the query.
      await database.query({ text: 'select 0', values: [] });
      return checkClock({ database, member: databases.memberConfig(A), tables: [], defaultShard: A });
    });
    expect(results).toMatchObject([{ check: 'clock', level, found: expect.stringMatching(text) }]);
  });

  it('reports a server that is too old', async () => {
    const results = await check((databases) => {
      const database = answering(databases.database(A), () => [130_014, '13.14']);
      return checkVersion({ database, member: databases.memberConfig(A), tables: [], defaultShard: A });
    });
    expect(results).toMatchObject([{ level: 'fault', found: 'PostgreSQL 13.14' }]);
  });

  it('reports a replica that is far behind', async () => {
    const results = await check((databases) => {
      const replica = databases.replica(A);
      if (replica === undefined) throw new Error('No replica');
      const late = answering(replica, ([recovers, group, number]) => [recovers, group, number, 45_000]);
      return checkReplica({ replica: () => late }, A);
    });
    expect(results).toMatchObject([{ level: 'warning', found: expect.stringContaining('45000 ms behind') }]);
  });
});
