import { randomBytes } from 'node:crypto';
import { type ActionExecutor, type Application, openApplication, ShardIdentifier } from 'fw-actions';
import type { WritingLimits } from 'fw-actions/operate';
import { application } from '../../examples/wallet/generated/application.js';
import type { ShardingTopology } from '../../runtime/config/types.js';
import type { ServerAddress } from '../databases/server.js';
import { cloneDatabase, dropDatabase } from '../databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../databases/topology.js';
import { FaultProxy } from './fault-proxy.js';
import { readRows, type ShardRows, untilQuiet } from './stored-rows.js';

/** Time limit of a run's executions, in milliseconds. */
export const TIMEOUT_MS = 1_000;

/** Something with an executor: an application, or one with a planted defect. */
export type OpenedApplication = Pick<Application, 'executor' | 'databases' | 'close'>;
export type Opener = (
  sharding: ShardingTopology,
  writing?: Partial<WritingLimits>,
) => Promise<OpenedApplication>;

/** Opens the wallet without a defect. */
export const openWallet: Opener = (sharding, writing = {}) =>
  openApplication(application, {
    namespace: 'faults',
    sharding,
    collaborators: {},
    deliver: false,
    migrateAtStart: false,
    execution: { timeoutMs: TIMEOUT_MS },
    writing,
  });

interface WorldShard {
  readonly shard: ShardIdentifier;
  readonly database: string;
  readonly proxy: FaultProxy;
}

/** Two shards, each behind a proxy, and two applications that share only the shards, as two processes would. */
export class FaultWorld {
  readonly #server: ServerAddress;
  readonly #shards: readonly WorldShard[];
  readonly applications: readonly OpenedApplication[];

  private constructor(
    server: ServerAddress,
    shards: readonly WorldShard[],
    applications: readonly OpenedApplication[],
  ) {
    this.#server = server;
    this.#shards = shards;
    this.applications = applications;
  }

  static async open(server: ServerAddress, opener: Opener = openWallet): Promise<FaultWorld> {
    const identifiers = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];
    const shards = await Promise.all(identifiers.map((shard) => openShard(server, shard)));
    const topology = topologyOf(shards.map((shard) => [shard.shard, throughProxy(server, shard)]));
    // The second application pipelines statements whenever possible.
    const applications = [await opener(topology), await opener(topology, { overlapFrom: 1 })];
    return new FaultWorld(server, shards, applications);
  }

  get executors(): readonly ActionExecutor[] {
    return this.applications.map(({ executor }) => executor);
  }

  get proxies(): readonly FaultProxy[] {
    return this.#shards.map(({ proxy }) => proxy);
  }

  /** All rows of both shards, read without the proxies. */
  async rows(): Promise<readonly ShardRows[]> {
    return Promise.all(this.#shards.map(({ database, shard }) => readRows(this.#server, database, shard)));
  }

  /** Waits until no earlier request, not even a late one, can still be applied. */
  async untilQuiet(): Promise<void> {
    await Promise.all(this.#shards.map(({ database }) => untilQuiet(this.#server, database)));
  }

  async close(): Promise<void> {
    await Promise.all(this.applications.map((opened) => opened.close()));
    for (const { proxy, database } of this.#shards) {
      await proxy.stop();
      await dropDatabase(this.#server, database);
    }
  }
}

async function openShard(server: ServerAddress, shard: ShardIdentifier): Promise<WorldShard> {
  const database = `fw_test_faults_${randomBytes(6).toString('hex')}`;
  await cloneDatabase(server, database, shard, application.migrations);
  return { shard, database, proxy: await FaultProxy.start(server) };
}

function throughProxy(
  server: ServerAddress,
  { proxy, database }: WorldShard,
): ReturnType<typeof testDataSource> {
  const address = { ...server, host: proxy.host, port: proxy.port };
  return testDataSource(serverUrl(address, database), server, { connectTimeoutMs: 800, maximumPoolSize: 8 });
}
