import type { DataSourceConfig, MemberConfig, ShardingTopology } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ClosedError, UnknownShardError } from '../errors.js';
import { BreakerDatabase } from './breaker-database.js';
import type { DatabaseAdapter } from './database-adapter.js';
import type { ShardDatabase } from './shard-database.js';
import { TransactionManager } from './transaction-manager.js';

export interface DatabaseRegistryOptions {
  readonly adapters: readonly DatabaseAdapter[];
  /** Called with what an operator should know. Default: a line on standard error. */
  readonly warn?: (message: string) => void;
  /** See `guardWith`. */
  readonly guard?: () => void;
}

/** The databases of a topology, one per shard. Each is opened when it is first used. */
export class DatabaseRegistry {
  /** Serves models without a sharded id. */
  readonly defaultShard: ShardIdentifier;
  readonly #members: ReadonlyMap<ShardIdentifier, MemberConfig>;
  readonly #adapters: readonly DatabaseAdapter[];
  readonly #warn: (message: string) => void;
  readonly #databases: Map<ShardIdentifier, ShardDatabase> = new Map();
  readonly #replicas: Map<ShardIdentifier, ShardDatabase> = new Map();
  #guard: () => void;
  #closed: Promise<void> | undefined;

  constructor(topology: ShardingTopology, options: DatabaseRegistryOptions) {
    const members = topology.groups.flatMap((group) => group.members);
    this.defaultShard = topology.defaultShard;
    this.#members = new Map(members.map((member) => [member.shard, member]));
    this.#adapters = options.adapters;
    this.#warn = options.warn ?? ((message) => console.warn(message));
    this.#guard = options.guard ?? (() => {});
  }

  /** All shards, in the order of the configuration. */
  shards(): readonly ShardIdentifier[] {
    return [...this.#members.keys()];
  }

  has(shard: ShardIdentifier): boolean {
    return this.#members.has(shard);
  }

  /**
   * The database of one shard. There is no fallback to the default shard.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws ClosedError after `close`
   */
  database(shard: ShardIdentifier): ShardDatabase {
    return this.#databases.get(shard) ?? this.#open(shard);
  }

  /**
   * The replica of one shard (`secondary-config`), undefined if it has none.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws ClosedError after `close`
   */
  replica(shard: ShardIdentifier): ShardDatabase | undefined {
    const known = this.#replicas.get(shard);
    if (known !== undefined) return known;
    const { secondary } = this.memberConfig(shard);
    if (secondary === undefined) return undefined;
    const replica = this.#openSource(shard, secondary);
    this.#replicas.set(shard, replica);
    return replica;
  }

  /** @throws UnknownShardError if the topology does not list the shard */
  memberConfig(shard: ShardIdentifier): MemberConfig {
    const member = this.#members.get(shard);
    if (member === undefined) throw new UnknownShardError(shard.toString());
    return member;
  }

  /**
   * Runs transactions of the application's own on one shard.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws WriteInPerformError inside an action's `perform`, which stages on its plan instead
   */
  transactionManager(shard: ShardIdentifier): TransactionManager {
    this.#guard();
    return new TransactionManager(this.database(shard));
  }

  /** Sets what `transactionManager` calls first: it throws where transactions are not allowed. */
  guardWith(guard: () => void): void {
    this.#guard = guard;
  }

  /** Closes all databases. What is under way may finish within `graceMs` (default 5,000). */
  close(graceMs?: number): Promise<void> {
    this.#closed ??= closeAll([...this.#databases.values(), ...this.#replicas.values()], graceMs);
    return this.#closed;
  }

  #open(shard: ShardIdentifier): ShardDatabase {
    const database = this.#openSource(shard, this.memberConfig(shard).primary);
    this.#databases.set(shard, database);
    return database;
  }

  #openSource(shard: ShardIdentifier, dataSource: DataSourceConfig): ShardDatabase {
    if (this.#closed !== undefined) throw new ClosedError('The databases are closed');
    const opened = this.#adapterFor(dataSource).open(shard, dataSource, { warn: this.#warn });
    return new BreakerDatabase(opened);
  }

  #adapterFor(dataSource: DataSourceConfig): DatabaseAdapter {
    const { kind } = dataSource.url;
    const adapter = this.#adapters.find((candidate) => candidate.kind === kind);
    if (adapter === undefined) throw new TypeError(`No adapter for ${kind} was given to the registry`);
    return adapter;
  }
}

async function closeAll(databases: readonly ShardDatabase[], graceMs: number | undefined): Promise<void> {
  await Promise.all(databases.map((database) => database.close(graceMs)));
}
