import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { DataSourceConfig, ShardingTopology } from '../../runtime/config/types.js';
import { postgresAdapter } from '../../runtime/databases.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { databaseHarness, type ShardsOptions } from './databases.js';
import { findPgbouncer, type Pgbouncer, type PgbouncerProgram, startPgbouncer } from './pgbouncer.js';
import type { ServerAddress } from './server.js';
import { testServer } from './vitest.js';

/** New databases behind PgBouncer. They are dropped after each test. */
export interface PooledHarness {
  readonly pooler: DataSourceConfig['pooler'];
  /** Address of PgBouncer. Not available before the first test. */
  address(): ServerAddress;
  makeTopology(options?: ShardsOptions): Promise<ShardingTopology>;
  makeShards(options?: ShardsOptions): Promise<DatabaseRegistry>;
}

/** So small that leaked session state would affect another client's transaction. */
const POOL_SIZE = 3;

/** Declares the same tests for PgBouncer with and without named statements. @throws Error if PgBouncer is missing */
export function describeThroughPgbouncer(name: string, declare: (harness: PooledHarness) => void): void {
  const program = findPgbouncer();
  for (const pooler of ['pgbouncer', 'pgbouncer-1.21'] as const) {
    const missing = whatIsMissing(program, pooler);
    if (program === undefined || missing !== undefined) throw new Error(missing);
    describe(`${name} (${pooler})`, () => declare(pooledHarness(program, pooler)));
  }
}

function whatIsMissing(
  program: PgbouncerProgram | undefined,
  pooler: DataSourceConfig['pooler'],
): string | undefined {
  if (program === undefined) return 'there is no pgbouncer here (Debian: apt-get install pgbouncer)';
  const [major, minor] = program.version;
  const keepsStatements = major > 1 || minor >= 21;
  if (pooler === 'pgbouncer' || keepsStatements) return undefined;
  return `${program.path} is ${major}.${minor}`;
}

function pooledHarness(program: PgbouncerProgram, pooler: DataSourceConfig['pooler']): PooledHarness {
  const direct = databaseHarness('postgresql', testServer());
  const registries: DatabaseRegistry[] = [];
  let running: Pgbouncer | undefined;
  beforeAll(async () => {
    const statements = pooler === 'pgbouncer' ? {} : { max_prepared_statements: 100 };
    running = await startPgbouncer(program, testServer(), { default_pool_size: POOL_SIZE, ...statements });
  });
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.close(0)));
    await direct.cleanUp();
  });
  afterAll(() => running?.stop());

  const address = (): Pgbouncer => {
    if (running === undefined) throw new Error('PgBouncer does not run yet');
    return running;
  };
  const makeTopology = async (options?: ShardsOptions): Promise<ShardingTopology> =>
    withSources(await direct.makeTopology(options), (source) => {
      if (source.url.kind !== 'postgresql') throw new Error('Not on a server');
      return { ...source, pooler, url: { ...source.url, port: address().port } };
    });
  const makeShards = async (options?: ShardsOptions): Promise<DatabaseRegistry> => {
    const registry = new DatabaseRegistry(await makeTopology(options), { adapters: [postgresAdapter] });
    registries.push(registry);
    return registry;
  };
  return { pooler, address, makeTopology, makeShards };
}

function withSources(
  topology: ShardingTopology,
  change: (source: DataSourceConfig) => DataSourceConfig,
): ShardingTopology {
  const groups = topology.groups.map((group) => ({
    ...group,
    members: group.members.map((member) => ({ ...member, primary: change(member.primary) })),
  }));
  return { ...topology, groups };
}
