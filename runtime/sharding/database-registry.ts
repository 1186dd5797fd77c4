import type { DataSourceConfig, MemberConfig, ShardingTopology } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ClosedError, messageOf, ReloadRefusedError, UnknownShardError } from '../errors.js';
import { ConnectionBudget } from './connection-budget.js';
import type { DatabaseAdapter } from './database-adapter.js';
import { DriverFailure, ShardRemovedFailure } from './driver-failure.js';
import { ServedDatabase } from './served-database.js';
import type { ShardDatabase } from './shard-database.js';
import { membersOf, type TopologyChange, topologyChanges, withPrimary } from './topology-changes.js';
import {
  memberIn,
  requireConnection,
  requireEmpty,
  requireSafe,
  requireSuccessor,
  untilPromoted,
} from './topology-reload.js';
import { TransactionManager } from './transaction-manager.js';

/** Options of a registry. */
export interface DatabaseRegistryOptions {
  readonly adapters: readonly DatabaseAdapter[];
  /** Called with messages for operators. Default: writes a line to standard error. */
  readonly warn?: (message: string) => void;
  /** See `guardWith`. */
  readonly guard?: () => void;
}

/** Options of a reload of the topology. */
interface ReloadOptions {
  /** Called for each new shard before it is added: migrates its database. */
  readonly prepare?: (database: ShardDatabase, member: MemberConfig) => Promise<void>;
  /**
   * Time limit for calls in progress to end before a server is switched, and then for the new server to be promoted, in
   * milliseconds. Requests of the shard wait meanwhile, up to their deadlines. Default 5,000.
   */
  readonly patienceMs?: number;
}

/** Called on each change with the reason why a shard is withheld, or with `undefined` once it is in service. */
export type ServiceListener = (shard: ShardIdentifier, reason: string | undefined) => void;

const PATIENCE_MS = 5_000;
/** Retry hint for callers of a withheld shard, in milliseconds. */
const WITHHELD_RETRY_MS = 1_000;

/** The databases of a topology, one per shard. Each is opened when it is first used. */
export class DatabaseRegistry {
  /** The shard of models without a sharded id. */
  readonly defaultShard: ShardIdentifier;
  #topology: ShardingTopology;
  #members: ReadonlyMap<ShardIdentifier, MemberConfig>;
  readonly #adapters: readonly DatabaseAdapter[];
  readonly #warn: (message: string) => void;
  readonly #databases: Map<ShardIdentifier, ServedDatabase> = new Map();
  #reloading: Promise<unknown> = Promise.resolve();
  readonly #replicas: Map<ShardIdentifier, ShardDatabase> = new Map();
  readonly #budget: ConnectionBudget | undefined;
  #guard: () => void;
  readonly #withheld: Map<ShardIdentifier, string> = new Map();
  readonly #serviceListeners: ServiceListener[] = [];
  readonly #removalListeners: ((shard: ShardIdentifier) => void)[] = [];
  readonly #doubtListeners: ((shard: ShardIdentifier) => void)[] = [];
  #closed: Promise<void> | undefined;

  /** @internal */
  constructor(topology: ShardingTopology, options: DatabaseRegistryOptions) {
    this.defaultShard = topology.defaultShard;
    this.#topology = topology;
    this.#members = membersOf(topology);
    this.#adapters = options.adapters;
    const { maximumConnections } = topology;
    this.#budget = maximumConnections === undefined ? undefined : new ConnectionBudget(maximumConnections);
    this.#budget?.expect(this.#members.size);
    this.#warn = options.warn ?? ((message) => console.warn(message));
    this.#guard = options.guard ?? (() => {});
  }

  /** All shards, in the order of the configuration. */
  shards(): readonly ShardIdentifier[] {
    return [...this.#members.keys()];
  }

  /** Numbers of groups by their numbers or names; unknown groups are left out. */
  groupNumbers(groups: readonly (string | number)[]): ReadonlySet<number> {
    const wanted = new Set(groups);
    const found = this.#topology.groups.filter(({ group, name }) => wanted.has(group) || wanted.has(name));
    return new Set(found.map(({ group }) => group));
  }

  has(shard: ShardIdentifier): boolean {
    return this.#members.has(shard);
  }

  /**
   * The database of one shard. There is no fallback to the default shard. Its calls, and those of its sessions, fail
   * with WriteInPerformError inside an action's `perform`, which reads through repositories and stages on its plan.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws ClosedError after `close`
   */
  database(shard: ShardIdentifier): ShardDatabase {
    return this.#served(shard);
  }

  /**
   * The replica of one shard (`secondary-config`), undefined if it has none or the shard is withheld.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws ClosedError after `close`
   */
  replica(shard: ShardIdentifier): ShardDatabase | undefined {
    if (this.#withheld.has(shard)) return undefined;
    const known = this.#replicas.get(shard);
    if (known !== undefined) return known;
    const { secondary } = this.memberConfig(shard);
    if (secondary === undefined) return undefined;
    const replica = this.#serve(shard, secondary);
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
   * Runs the application's own transactions on one shard.
   *
   * @throws UnknownShardError if the topology does not list the shard
   * @throws WriteInPerformError inside an action's `perform`, which stages on its plan instead
   */
  transactionManager(shard: ShardIdentifier): TransactionManager {
    this.#guard();
    return new TransactionManager(this.database(shard));
  }

  /**
   * Sets a function that is called before each call of a database. It throws where an application may not use a
   * database.
   */
  guardWith(guard: () => void): void {
    this.#guard = guard;
  }

  /** The reason why this process does not serve a shard; `undefined` if it does. */
  withheld(shard: ShardIdentifier): string | undefined {
    return this.#withheld.get(shard);
  }

  /**
   * Takes a shard out of service: each call to it, or to its replica, now fails at once without being sent.
   *
   * @param reason for operators, in one sentence
   * @returns its database, to prepare it for service
   * @throws UnknownShardError if the topology does not list the shard
   * @throws ClosedError after `close`
   */
  withhold(shard: ShardIdentifier, reason: string): ShardDatabase {
    const database = this.#served(shard);
    const message = `${database.description}: shard ${shard} is out of service: ${reason}`;
    const refusal = { phase: 'not-sent', reason: 'withheld', retryAfterMs: WITHHELD_RETRY_MS } as const;
    database.refusal = () => new DriverFailure(message, refusal);
    this.#changeService(shard, reason);
    return database.past;
  }

  /** Puts a withheld shard into service again. */
  admit(shard: ShardIdentifier): void {
    if (!this.#withheld.has(shard)) return;
    const database = this.#databases.get(shard);
    if (database !== undefined) database.refusal = undefined;
    this.#changeService(shard, undefined);
  }

  /**
   * Calls back when a shard is withheld, when the reason changes, and when it is in service again.
   *
   * @internal
   */
  onService(listener: ServiceListener): void {
    this.#serviceListeners.push(listener);
  }

  /**
   * Calls back when a reload has removed a shard, so that its state in memory can be dropped.
   *
   * @internal
   */
  onRemoved(listener: (shard: ShardIdentifier) => void): void {
    this.#removalListeners.push(listener);
  }

  /**
   * Calls back when statements to a shard may from now on reach another server, which may lack rows that were read or
   * written before: a connection was opened or lost, or the last one was closed.
   *
   * @internal
   */
  onServerInDoubt(listener: (shard: ShardIdentifier) => void): void {
    this.#doubtListeners.push(listener);
  }

  /**
   * Switches to another topology while requests are served. Pools are replaced while they are in use. When a server
   * changes, the requests of its shard wait at a barrier, up to their deadlines.
   *
   * @returns the changes; empty if there are none
   * @throws ReloadRefusedError for an unsafe change: the topology stays as it was, except for servers that were
   *   switched before another one refused
   */
  reload(topology: ShardingTopology, options: ReloadOptions = {}): Promise<readonly TopologyChange[]> {
    const change = (): Promise<readonly TopologyChange[]> =>
      this.#change(topology, options).finally(() => this.#forgetUnlisted());
    const done = this.#reloading.then(change, change);
    this.#reloading = done.catch(() => {});
    return done;
  }

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Closes all databases. Calls in progress may finish within `graceMs` (default 5,000). */
  close(graceMs?: number): Promise<void> {
    this.#closed ??= closeAll([...this.#databases.values(), ...this.#replicas.values()], graceMs);
    return this.#closed;
  }

  #changeService(shard: ShardIdentifier, reason: string | undefined): void {
    if (reason === undefined) this.#withheld.delete(shard);
    else this.#withheld.set(shard, reason);
    for (const listener of this.#serviceListeners) listener(shard, reason);
  }

  #served(shard: ShardIdentifier): ServedDatabase {
    const known = this.#members.has(shard) ? this.#databases.get(shard) : undefined;
    return known ?? this.#keep(shard, this.memberConfig(shard).primary);
  }

  #keep(shard: ShardIdentifier, source: DataSourceConfig): ServedDatabase {
    const database = this.#serve(shard, source);
    this.#databases.set(shard, database);
    return database;
  }

  #serve(shard: ShardIdentifier, source: DataSourceConfig): ServedDatabase {
    return new ServedDatabase(this.#openSource(shard, source), source.statementTimeoutMs, () =>
      this.#guard(),
    );
  }

  async #change(topology: ShardingTopology, options: ReloadOptions): Promise<readonly TopologyChange[]> {
    const changes = topologyChanges(this.#topology, topology);
    requireSafe(changes, this.#topology, topology);
    for (const change of changes) {
      if (change.kind === 'shard-removed') await requireEmpty(this.database(change.shard));
      if (change.kind === 'shard-added') await this.#prepare(memberIn(topology, change), options);
      if (change.kind === 'pool') {
        const { shard, primary } = memberIn(topology, change);
        const present = this.#databases.get(shard)?.stats();
        await requireConnection(shard, () => this.#openSource(shard, primary), present);
      }
    }
    // From here on, only a server in an unexpected state can refuse the reload, so servers are switched first.
    // All at once: a standby with the databases of several shards is promoted once each of them has stopped writing.
    const switched = await Promise.allSettled(
      changes.map(async (change) => {
        if (change.kind === 'server') await this.#switch(memberIn(topology, change), options);
      }),
    );
    for (const end of switched) if (end.status === 'rejected') throw end.reason;
    const removed = changes.flatMap((change) => (change.kind === 'shard-removed' ? [change.shard] : []));
    await this.#vacate(
      removed.map((shard) => this.#served(shard)),
      options,
    );
    this.#topology = topology;
    this.#members = membersOf(topology);
    this.#budget?.expect(this.#members.size);
    for (const change of changes) this.#adopt(change);
    return changes;
  }

  /** Refuses further calls of removed shards, unless one has got rows since it was found empty. */
  async #vacate(
    databases: readonly ServedDatabase[],
    { patienceMs = PATIENCE_MS }: ReloadOptions,
  ): Promise<void> {
    const before = databases.map(({ refusal }) => refusal);
    try {
      for (const database of databases)
        await database.alone(patienceMs, async () => {
          await requireEmpty(database.past);
          database.refusal = () => new ShardRemovedFailure(database.shard.toString());
        });
    } catch (error) {
      for (const [index, database] of databases.entries()) database.refusal = before[index];
      throw error;
    }
  }

  /** Closes databases that were prepared for a topology that was then refused. */
  #forgetUnlisted(): void {
    for (const [shard, database] of this.#databases) {
      if (this.#members.has(shard)) continue;
      this.#databases.delete(shard);
      this.#withheld.delete(shard);
      database.refusal = () => new ShardRemovedFailure(shard.toString());
      for (const listener of this.#removalListeners) listener(shard);
      void database.close();
    }
  }

  async #prepare(member: MemberConfig, { prepare }: ReloadOptions): Promise<void> {
    try {
      await prepare?.(this.#keep(member.shard, member.primary), member);
    } catch (error) {
      const reason = `the new shard ${member.shard} is not ready: ${messageOf(error)}`;
      throw new ReloadRefusedError(reason, { cause: error, mayPass: true });
    }
  }

  async #switch(member: MemberConfig, { patienceMs = PATIENCE_MS }: ReloadOptions): Promise<void> {
    const { shard, primary } = member;
    const database = this.#databases.get(shard);
    const known = this.memberConfig(shard).primary;
    const openOld = (): ShardDatabase => this.#openSource(shard, known);
    const openNew = (): ShardDatabase => this.#openSource(shard, primary);
    // The slow part and every possible check run before requests have to wait.
    await requireSuccessor(openNew, openOld);
    const check = (): Promise<void> => untilPromoted(openNew, patienceMs);
    if (database === undefined) await check();
    else {
      const timeoutMs = primary.statementTimeoutMs;
      await database.switchTo({ timeoutMs, patienceMs, check, openNew, openOld });
    }
    // If another server refuses, the next reload starts from what this process uses.
    this.#topology = withPrimary(this.#topology, member);
    this.#members = membersOf(this.#topology);
  }

  #adopt(change: TopologyChange): void {
    if (change.kind === 'pool') {
      const { primary } = this.memberConfig(change.shard);
      const database = this.#databases.get(change.shard);
      database?.replace(this.#openSource(change.shard, primary), primary.statementTimeoutMs);
    }
    if (change.kind === 'replica' || change.kind === 'shard-removed') {
      void this.#replicas.get(change.shard)?.close();
      this.#replicas.delete(change.shard);
    }
  }

  #openSource(shard: ShardIdentifier, dataSource: DataSourceConfig): ShardDatabase {
    if (this.#closed !== undefined) throw new ClosedError('The databases are closed');
    return this.#adapterFor(dataSource).open(shard, dataSource, {
      warn: this.#warn,
      budget: this.#budget,
      serverInDoubt: () => {
        for (const listener of this.#doubtListeners) listener(shard);
      },
    });
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
