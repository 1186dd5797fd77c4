import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

/** A database whose calls go to another one. Subclasses change some of them. */
export abstract class ForwardingDatabase implements ShardDatabase {
  protected target: ShardDatabase;

  constructor(target: ShardDatabase) {
    this.target = target;
  }

  get shard(): ShardIdentifier {
    return this.target.shard;
  }

  get kind(): ShardDatabase['kind'] {
    return this.target.kind;
  }

  get description(): string {
    return this.target.description;
  }

  get sessionState(): boolean {
    return this.target.sessionState;
  }

  get listen(): ShardDatabase['listen'] {
    return this.target.listen?.bind(this.target);
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.target.query(statement, options);
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    return this.target.acquire(options);
  }

  stats(): PoolStats {
    return this.target.stats();
  }

  close(graceMs?: number): Promise<void> {
    return this.target.close(graceMs);
  }
}
