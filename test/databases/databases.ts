import { randomBytes } from 'node:crypto';
import type { DataSourceConfig, ShardingTopology } from '../../runtime/config/types.js';
import { postgresAdapter } from '../../runtime/databases.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { migrate } from '../../runtime/migration/migrate.js';
import type { Migration } from '../../runtime/migration/migration.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { EmbeddedLoan, releaseEmbedded } from './embedded.js';
import {
  APPLICATION_ROLE,
  forgetOwner,
  type OwnerReason,
  rememberOwner,
  roleOfRun,
  type TestRole,
} from './roles.js';
import type { ServerAddress } from './server.js';
import { cloneDatabase, dropDatabase } from './template.js';
import { serverUrl, testDataSource, topologyOf } from './topology.js';

export type AdapterName = 'postgresql' | 'pglite';

/** Features that not every adapter has. */
export type Capability = 'second-session' | 'server-timeouts' | 'logical-decoding' | 'tls';

const CAPABILITIES: Readonly<Record<AdapterName, readonly Capability[]>> = {
  postgresql: ['second-session', 'server-timeouts', 'logical-decoding'],
  pglite: [],
};

export interface ShardsOptions {
  /** Default: one shard (0, 0). The first one is the default shard. */
  readonly shards?: readonly ShardIdentifier[];
  /** The application's migrations. Default none. */
  readonly migrations?: readonly Migration[];
  /** Overrides of each data source: time-outs, pool size. */
  readonly dataSource?: Partial<DataSourceConfig>;
  /** Default true: with this package's tables and `migrations`. False: empty databases. */
  readonly migrated?: boolean;
  /** Default: the run's role (FW_TEST_ROLE), or `owner`. Databases without migrations always use the owner. */
  readonly role?: TestRole;
  /** Why the test needs the owner of the schema even in a run under the application's role. */
  readonly owner?: OwnerReason;
}

/** Fresh databases on one adapter. */
export interface DatabaseHarness {
  readonly adapter: AdapterName;
  has(capability: Capability): boolean;
  /** New databases for one test, removed by `cleanUp`. */
  makeShards(options?: ShardsOptions): Promise<DatabaseRegistry>;
  /** A topology of new databases, for tests that open their own registry. */
  makeTopology(options?: ShardsOptions): Promise<ShardingTopology>;
  /** Opens databases of a server as another process does, until `cleanUp`. */
  open(topology: ShardingTopology): DatabaseRegistry;
  /** Lets `cleanUp` close databases that a test has opened. */
  keep(registry: DatabaseRegistry): DatabaseRegistry;
  /** Closes and drops the created databases. Call it after each test. */
  cleanUp(): Promise<void>;
}

/** @param server where databases are created; required for `postgresql` */
export function databaseHarness(adapter: AdapterName, server: ServerAddress | undefined): DatabaseHarness {
  if (adapter === 'pglite') return new EmbeddedHarness();
  if (server === undefined) throw new Error('The tests need a PostgreSQL server: see test/global-setup.ts');
  return new ServerHarness(server);
}

function shardsOf(options: ShardsOptions): readonly ShardIdentifier[] {
  return options.shards ?? [ShardIdentifier.of(0, 0)];
}

function roleOf({ migrated, owner, role }: ShardsOptions): TestRole {
  return migrated === false || owner !== undefined ? 'owner' : (role ?? roleOfRun());
}

abstract class BaseHarness implements DatabaseHarness {
  abstract readonly adapter: AdapterName;
  readonly #registries: DatabaseRegistry[] = [];

  abstract makeShards(options?: ShardsOptions): Promise<DatabaseRegistry>;
  abstract makeTopology(options?: ShardsOptions): Promise<ShardingTopology>;
  protected abstract drop(): Promise<void>;

  has(capability: Capability): boolean {
    return CAPABILITIES[this.adapter].includes(capability);
  }

  async cleanUp(): Promise<void> {
    await Promise.all(this.#registries.splice(0).map((registry) => registry.close(0)));
    await this.drop();
  }

  open(topology: ShardingTopology): DatabaseRegistry {
    return this.keep(new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} }));
  }

  keep(registry: DatabaseRegistry): DatabaseRegistry {
    this.#registries.push(registry);
    return registry;
  }
}

/** Each shard is a database of one server, copied from a template that was migrated once. */
class ServerHarness extends BaseHarness {
  readonly adapter = 'postgresql';
  readonly #server: ServerAddress;
  readonly #databases: string[] = [];

  constructor(server: ServerAddress) {
    super();
    this.#server = server;
  }

  async makeShards(options: ShardsOptions = {}): Promise<DatabaseRegistry> {
    const topology = await this.makeTopology(options);
    return this.keep(new DatabaseRegistry(topology, { adapters: [postgresAdapter] }));
  }

  async makeTopology(options: ShardsOptions = {}): Promise<ShardingTopology> {
    const sources = shardsOf(options).map(async (shard) => {
      const source = await this.#create(shard, options);
      return [shard, source] as const;
    });
    return topologyOf(await Promise.all(sources));
  }

  protected async drop(): Promise<void> {
    for (const database of this.#databases.splice(0)) {
      await forgetOwner(database);
      await dropDatabase(this.#server, database);
    }
  }

  async #create(shard: ShardIdentifier, options: ShardsOptions): Promise<DataSourceConfig> {
    const database = `fw_test_${randomBytes(6).toString('hex')}`;
    this.#databases.push(database);
    const migrations = options.migrated === false ? undefined : (options.migrations ?? []);
    const role = roleOf(options);
    await cloneDatabase(this.#server, database, shard, migrations, role);
    if (role === 'application') rememberOwner(database, this.#server);
    const user = role === 'owner' ? this.#server : { user: APPLICATION_ROLE, password: APPLICATION_ROLE };
    return testDataSource(serverUrl(this.#server, database), user, options.dataSource);
  }
}

/** Each shard is an in-memory instance. Starting one is slow, so it is cleared and reused by the next test. */
class EmbeddedHarness extends BaseHarness {
  readonly adapter = 'pglite';

  async makeShards(options: ShardsOptions = {}): Promise<DatabaseRegistry> {
    const topology = await this.makeTopology(options);
    const migrations = options.migrated === false ? undefined : (options.migrations ?? []);
    const loan = await EmbeddedLoan.of(shardsOf(options), migrations);
    const registry = this.keep(new DatabaseRegistry(topology, { adapters: [loan], warn: () => {} }));
    if (migrations !== undefined) await loan.migrated(() => migrate(registry, { migrations }));
    return registry;
  }

  makeTopology(options: ShardsOptions = {}): Promise<ShardingTopology> {
    const sources = shardsOf(options).map((shard) => {
      const url = {
        kind: 'pglite',
        storage: 'mem',
        location: `test-${shard.group}-${shard.member}`,
      } as const;
      return [shard, testDataSource(url, undefined, options.dataSource)] as const;
    });
    return Promise.resolve(topologyOf(sources));
  }

  protected drop(): Promise<void> {
    return releaseEmbedded();
  }
}
