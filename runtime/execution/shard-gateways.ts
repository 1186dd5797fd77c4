import type { Kysely } from 'kysely';
import { currentPerformScope } from '../action/perform-scope.js';
import { deadlines } from '../concurrency/deadlines.js';
import { time } from '../concurrency/time.js';
import type { MemberConfig } from '../config/types.js';
import type { NaturalKey } from '../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import type { Logger } from '../domain/logger.js';
import type { KeyLookup } from '../domain/natural-key.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { DeadlineExceededError, WriteInPerformError } from '../errors.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import { JournalStore } from '../persistence/journal/journal-store.js';
import { BatchReader, type BatchSource, modelsById, modelsByKey } from '../persistence/read/batch-reader.js';
import { readOnlyKysely } from '../persistence/read/kysely-dialect.js';
import type { QueryOptions } from '../persistence/read/query-options.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import type { ShardStore, WriteGroup } from '../persistence/shard-store.js';
import { SqlShardStore } from '../persistence/sql-shard-store.js';
import { FoldingRules } from '../persistence/write/folding-rules.js';
import { ShardWriter } from '../persistence/write/shard-writer.js';
import {
  checkWritingLimits,
  DEFAULT_WRITER_LIMITS,
  type WriterLimits,
  type WritingLimits,
} from '../persistence/write/writer-limits.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type ReadSource, ReplicaReads, readSource } from '../sharding/replica-reads.js';
import { RowQueues } from './contention/row-queues.js';
import { RememberedModels } from './perform/remembered-models.js';
import { StagedStates } from './perform/staged-states.js';

/** The executor's objects for one shard. */
export interface ShardGateway {
  readonly shard: ShardIdentifier;
  readonly store: ShardStore;
  readonly writer: ShardWriter;
  readonly limits: WriterLimits;
  readonly journal: JournalStore;
  readonly tables: FoldingRules;
  /** By model descriptor, or by natural key. */
  readonly readers: Map<ModelDescriptor | NaturalKey, BatchReader<Entity>>;
}

/** Default number of committed states that a process remembers. */
export const REMEMBERED_MODELS = 10_000;

export interface ShardGatewaysOptions {
  readonly writing?: Partial<WritingLimits> | undefined;
  /** Maximum committed states in memory; 0: none. Default 10,000. */
  readonly rememberedModels?: number | undefined;
  /** Receives skipped replicas. Default: discarded. */
  readonly log?: Logger | undefined;
  /** The store of each shard. Default: its database. */
  readonly storeOf?: ((shard: ShardIdentifier) => ShardStore) | undefined;
}

/** The part of a `DatabaseRegistry` that execution uses. */
export interface ExecutionDatabases
  extends Pick<DatabaseRegistry, 'shards' | 'defaultShard' | 'database' | 'replica' | 'guardWith'> {
  onServerInDoubt(listener: (shard: ShardIdentifier) => void): void;
  onRemoved(listener: (shard: ShardIdentifier) => void): void;
  memberConfig(shard: ShardIdentifier): {
    readonly primary: Pick<MemberConfig['primary'], 'lockTimeoutMs'>;
  };
}

/** Time limit of a read outside of an execution, in milliseconds. */
const FREE_READ_TIMEOUT_MS = 1_800;
/** Additional time for a timed-out read to report its cause instead of a bare timeout, in milliseconds. */
const ANSWER_MS = 50;

/** The shards as execution uses them: a store, a writer and readers each, created on first use. */
export class ShardGateways implements RepositoryContext {
  readonly #databases: ExecutionDatabases;
  readonly namespace: string;
  readonly events: EventCatalog;
  readonly #writing: Partial<WritingLimits>;
  readonly #storeOf: ShardGatewaysOptions['storeOf'];
  readonly #gateways = new Map<ShardIdentifier, ShardGateway>();
  readonly #queries = new Map<ShardIdentifier, Kysely<unknown>>();

  /** Called after each commit of this process, with the plans that were sent. Must return at once. */
  onCommitted: ((shard: ShardIdentifier, groups: readonly WriteGroup[]) => void) | undefined;
  /** States that are staged in this process and not yet committed. */
  readonly staged: StagedStates;
  /** Committed states that spare a read. */
  readonly remembered: RememberedModels;
  readonly turns: RowQueues = new RowQueues();
  /** Positions in the log, and reads that a replica may serve. */
  readonly replicas: ReplicaReads;

  /** @throws ValidationError for an invalid limit of writing */
  constructor(
    databases: ExecutionDatabases,
    namespace: string,
    events: EventCatalog,
    { writing = {}, rememberedModels = REMEMBERED_MODELS, storeOf, log }: ShardGatewaysOptions = {},
  ) {
    checkWritingLimits(writing);
    this.remembered = new RememberedModels(rememberedModels, {
      noticesServers: (shard) => databases.database(shard).sessionState,
      storesAsStaged: (shard, model) => this.gateway(shard).tables.storesAsStaged(model),
      ready: (shard, model) => this.gateway(shard).tables.ready(model),
    });
    this.staged = new StagedStates(this.remembered);
    this.#writing = writing;
    this.#storeOf = storeOf;
    this.#databases = databases;
    this.namespace = namespace;
    this.events = events;
    // Executions base decisions on their reads, so they always read the primary.
    const isAllowed = (): boolean => currentPerformScope() === undefined;
    this.replicas = new ReplicaReads(databases, { isAllowed, log });
    databases.guardWith(refuseInPerform);
    // If a shard of this name is added again, it may be another database.
    databases.onRemoved((shard) => {
      this.#gateways.delete(shard);
      this.#queries.delete(shard);
      this.remembered.forget(shard);
    });
    databases.onServerInDoubt((shard) => this.remembered.forget(shard));
  }

  get shards(): readonly ShardIdentifier[] {
    return this.#databases.shards();
  }

  get defaultShard(): ShardIdentifier {
    return this.#databases.defaultShard;
  }

  /** Shards that this process has used. */
  get used(): readonly ShardIdentifier[] {
    return [...this.#gateways.keys()];
  }

  /** @throws UnknownShardError if the shard is not configured */
  gateway(shard: ShardIdentifier): ShardGateway {
    const known = this.#gateways.get(shard);
    if (known !== undefined) return known;
    const database = this.#databases.database(shard);
    const tables = new FoldingRules(database);
    const committed = (groups: readonly WriteGroup[]): void => this.onCommitted?.(shard, groups);
    const store =
      this.#storeOf?.(shard) ?? new SqlShardStore(database, this.namespace, this.events, committed);
    const limits = writerLimits(this.#databases, this.#writing, shard);
    const gateway: ShardGateway = {
      shard,
      store,
      writer: new ShardWriter(store, shard, limits, (model) => tables.isFoldable(model)),
      limits,
      journal: new JournalStore(database),
      tables,
      readers: new Map(),
    };
    this.#gateways.set(shard, gateway);
    return gateway;
  }

  read(model: ModelDescriptor, shard: ShardIdentifier, id: string): Promise<Entity | undefined> {
    const gateway = this.gateway(shard);
    const reader = gateway.readers.get(model) ?? addReader(gateway, model, modelsById(model, gateway));
    return readBy(reader, shard, id);
  }

  readByKey({ model, key, shard, texts }: KeyLookup): Promise<Entity | undefined> {
    const gateway = this.gateway(shard);
    const reader = gateway.readers.get(key) ?? addReader(gateway, key, modelsByKey(model, key, gateway));
    return readBy(reader, shard, JSON.stringify(texts));
  }

  queries<Tables>(shard: ShardIdentifier, options?: QueryOptions): Kysely<Tables> {
    const known = options === undefined ? this.#queries.get(shard) : undefined;
    if (known !== undefined) return known as Kysely<Tables>;
    const { replica, timeoutMs } = options ?? {};
    const source =
      replica === undefined
        ? readSource(this.#databases.database(shard))
        : this.replicas.reader(shard, replica);
    const queries = readOnlyKysely<Tables>(afterStaged(source), timeoutMs);
    if (options === undefined) this.#queries.set(shard, queries as Kysely<unknown>);
    return queries;
  }
}

function writerLimits(
  databases: ExecutionDatabases,
  writing: Partial<WritingLimits>,
  shard: ShardIdentifier,
): WriterLimits {
  return {
    ...DEFAULT_WRITER_LIMITS,
    ...writing,
    /** A reload may change it, or remove the shard. */
    get lockWaitMs() {
      if (!databases.shards().includes(shard)) return DEFAULT_WRITER_LIMITS.lockWaitMs;
      return databases.memberConfig(shard).primary.lockTimeoutMs;
    },
  };
}

function readBy(
  reader: BatchReader<Entity>,
  shard: ShardIdentifier,
  id: string,
): Promise<Entity | undefined> {
  const scope = currentPerformScope();
  // An execution enforces its own deadline.
  if (scope !== undefined) return reader.read(id, scope.remainingMs());
  const read = reader.read(id, FREE_READ_TIMEOUT_MS);
  const late = (): Error => new DeadlineExceededError(`Shard ${shard} did not answer in time`);
  return deadlines.race(read, time.nowMs() + FREE_READ_TIMEOUT_MS + ANSWER_MS, late);
}

function addReader(
  { shard, readers }: ShardGateway,
  of: ModelDescriptor | NaturalKey,
  source: BatchSource<Entity>,
): BatchReader<Entity> {
  const reader = new BatchReader(shard, source);
  readers.set(of, reader);
  return reader;
}

function refuseInPerform(): void {
  const scope = currentPerformScope();
  if (scope !== undefined) {
    throw new WriteInPerformError(
      `${scope.actionName} used a database inside perform; perform may only read through repositories and stage changes on plan()`,
    );
  }
}

/** Reads of queries, which cannot see staged states: they wait until staged states are settled. */
function afterStaged({ shard, read }: ReadSource): ReadSource {
  return {
    shard,
    read: async (work, options) => {
      await currentPerformScope()?.reads?.beforeQuery(shard);
      return read(work, options);
    },
  };
}
