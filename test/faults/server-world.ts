import { type Application, openApplication, ShardIdentifier } from 'fw-actions';
import { application } from '../../examples/wallet/generated/application.js';
import { type PostgresServer, startPostgres } from '../databases/server.js';
import { cloneDatabase } from '../databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../databases/topology.js';
import { connectTo, readRows, type ShardRows, untilQuiet } from './stored-rows.js';

/** The shard's database, with the same name on both servers. */
export const DATABASE = 'wallets';

const GLOBAL = ShardIdentifier.of(0, 0);
const MEXICO = ShardIdentifier.of(1, 0);

/** Few connections, so that they can be exhausted. */
const SETTINGS = { max_connections: '30', superuser_reserved_connections: '0' };

/** Two shards on two PostgreSQL servers. The tests damage the second one. */
export class ServerWorld {
  readonly global: PostgresServer;
  readonly mexico: PostgresServer;

  private constructor(global: PostgresServer, mexico: PostgresServer) {
    this.global = global;
    this.mexico = mexico;
  }

  static async start(): Promise<ServerWorld> {
    const [global, mexico] = await Promise.all([startPostgres(SETTINGS), startPostgres(SETTINGS)]);
    await cloneDatabase(global, DATABASE, GLOBAL, application.migrations);
    await cloneDatabase(mexico, DATABASE, MEXICO, application.migrations);
    return new ServerWorld(global, mexico);
  }

  /** An application with the default time limits. */
  open(): Promise<Application> {
    const source = (server: PostgresServer): ReturnType<typeof testDataSource> =>
      testDataSource(serverUrl(server, DATABASE), server, { connectTimeoutMs: 800, maximumPoolSize: 8 });
    const sharding = topologyOf([
      [GLOBAL, source(this.global)],
      [MEXICO, source(this.mexico)],
    ]);
    const quiet = { migrateAtStart: false, deliver: false };
    return openApplication(application, { namespace: 'faults', sharding, collaborators: {}, ...quiet });
  }

  /** Deletes all wallets. */
  async clear(): Promise<void> {
    for (const server of [this.global, this.mexico]) {
      const client = await connectTo(server, DATABASE);
      await client.query('truncate wallets, eventlog.events, eventlog.actions, eventlog.idempotency_keys');
      await client.end();
    }
  }

  async rows(): Promise<readonly ShardRows[]> {
    await untilQuiet(this.global, DATABASE);
    await untilQuiet(this.mexico, DATABASE);
    return [await readRows(this.global, DATABASE, GLOBAL), await readRows(this.mexico, DATABASE, MEXICO)];
  }

  async destroy(): Promise<void> {
    await Promise.all([this.global.destroy(), this.mexico.destroy()]);
  }
}
