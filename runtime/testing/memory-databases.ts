import type { Tenancy } from '../action/tenancy.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { DatabaseError, UnknownShardError } from '../errors.js';
import type { ExecutionDatabases } from '../execution/shard-gateways.js';
import { Placement } from '../sharding/placement.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';

/** The shards of an in-memory topology. */
export interface MemoryTopology {
  /** The configured shards. Default: every shard is configured. */
  readonly shards?: readonly ShardIdentifier[];
  /** The shard of models without a sharded id. Default (0, 0). */
  readonly defaultShard?: ShardIdentifier;
  /** Numbers of groups by their configured names, for `tenancy` and placement. Default: no names. */
  readonly groups?: Readonly<Record<string, number>>;
  /** The groups of shards that each principal may reach, as for `startServer`. Default: all. */
  readonly tenancy?: Tenancy;
}

const NO_ROWS: Rows = { columns: [], rows: [], command: 'SELECT', rowCount: 0 };
const SIZE: Rows = { columns: ['size'], rows: [[0]], command: 'SELECT', rowCount: 1 };

/** The topology of a specification, as execution uses it. Its databases refuse queries. */
export class MemoryDatabases implements ExecutionDatabases {
  readonly defaultShard: ShardIdentifier;
  readonly #topology: MemoryTopology;
  #misuse: DatabaseError | undefined;

  constructor(topology: MemoryTopology) {
    this.#topology = topology;
    this.defaultShard = topology.defaultShard ?? ShardIdentifier.of(0, 0);
  }

  /** @throws DatabaseError for a refused query, which the code under test may have caught, or might retry endlessly */
  requireNoQuery(): void {
    if (this.#misuse !== undefined) throw this.#misuse;
  }

  shards(): readonly ShardIdentifier[] {
    return this.#topology.shards ?? [this.defaultShard];
  }

  groupNumbers(groups: readonly (string | number)[]): ReadonlySet<number> {
    const { groups: known = {} } = this.#topology;
    const numbers = groups.map((group) => (typeof group === 'number' ? group : known[group]));
    return new Set(numbers.filter((number) => number !== undefined));
  }

  /** @throws UnknownShardError if the shard is not configured */
  database(shard: ShardIdentifier): ShardDatabase {
    if (this.#topology.shards?.includes(shard) === false) throw new UnknownShardError(shard.toString());
    return {
      shard,
      kind: 'pglite',
      description: 'memory',
      sessionState: false,
      // The runtime's own look-ups find nothing.
      query: () => Promise.resolve(NO_ROWS),
      acquire: () => Promise.reject(this.refuse(shard)),
      stats: () => ({ open: 0, idle: 0, waiting: 0 }),
      close: () => Promise.resolve(),
    };
  }

  replica(): undefined {
    return undefined;
  }

  memberConfig(): ReturnType<ExecutionDatabases['memberConfig']> {
    return { primary: { lockTimeoutMs: 0 } };
  }

  guardWith(): void {}

  onRemoved(): void {}

  onServerInDoubt(): void {}

  /** A placement over the shards: all have the same weight, and every database is empty. */
  placement(): Placement {
    return new Placement({
      shards: () => this.shards(),
      groupNumbers: (groups) => this.groupNumbers(groups),
      memberConfig: (shard) => ({ shard }),
      database: () => ({ query: () => Promise.resolve(SIZE) }),
    });
  }

  /** Notes the query of a shard's database. */
  refuse(shard: ShardIdentifier): DatabaseError {
    this.#misuse ??= new DatabaseError(
      `Shard ${shard} holds no database: an action spec reads by id only. Test actions with queries of their own ` +
        'on a database.',
      {},
    );
    return this.#misuse;
  }
}
