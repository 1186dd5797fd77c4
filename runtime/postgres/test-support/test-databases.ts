import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { StallingProxy } from '../../../test/databases/proxy.js';
import type { DataSourceConfig, PostgresUrl } from '../../config/types.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { ConnectionAges } from '../../sharding/pooled-connection.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { PostgresDatabase } from '../postgres-database.js';

const SHARD = ShardIdentifier.of(0, 0);

/** Address and limits of a test database. */
export type TestSource = DataSourceConfig & ConnectionAges & { readonly url: PostgresUrl };

/** Databases of one test, with their own connections. */
export class TestDatabases {
  readonly #harness: DatabaseHarness;
  readonly #cleanUps: (() => Promise<unknown>)[] = [];
  #last: TestSource | undefined;

  constructor(harness: DatabaseHarness) {
    this.#harness = harness;
  }

  /** An empty database. */
  async source(overrides: Partial<DataSourceConfig> & ConnectionAges = {}): Promise<TestSource> {
    const topology = await this.#harness.makeTopology({ migrated: false });
    const primary = topology.groups[0]?.members[0]?.primary;
    if (primary?.url.kind !== 'postgresql') throw new Error('No data source');
    this.#last = { ...primary, ...overrides, url: { ...primary.url, ...overrides.url } as PostgresUrl };
    return this.#last;
  }

  /** The most recently created database. */
  get lastSource(): TestSource {
    if (this.#last === undefined) throw new Error('No database has been made');
    return this.#last;
  }

  open(source: TestSource): ShardDatabase {
    const database = new PostgresDatabase(SHARD, source.url, source);
    this.onEnd(() => database.close(0));
    return database;
  }

  /** A database behind a proxy. */
  async proxied(overrides: Partial<DataSourceConfig> = {}): Promise<[ShardDatabase, StallingProxy]> {
    const direct = await this.source(overrides);
    const proxy = await StallingProxy.start(direct.url);
    this.onEnd(() => proxy.stop());
    return [this.open({ ...direct, url: { ...direct.url, port: proxy.port } }), proxy];
  }

  onEnd(cleanUp: () => Promise<unknown>): void {
    this.#cleanUps.push(cleanUp);
  }

  async end(): Promise<void> {
    for (const cleanUp of this.#cleanUps.splice(0)) await cleanUp();
  }
}
