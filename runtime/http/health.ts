import type { RequestHead } from '../access/authenticator.js';

/** The state of one shard. */
export interface ShardHealth {
  /** `(group, member)` */
  readonly shard: string;
  readonly name: string;
  /** `read-only`: it answers reads and refuses writes. */
  readonly status: 'up' | 'read-only' | 'down';
  /** An error code, unless it is up. */
  readonly code?: string;
  /** Why it is not up. May name hosts and users, so only operators see it. */
  readonly reason?: string;
}

/** What `/health/ready` reports. */
export interface ReadinessReport {
  /**
   * `ready`: all shards are up. `degraded`: some answer, and their requests are served. `unavailable`: no shard answers.
   */
  readonly status: 'ready' | 'degraded' | 'unavailable' | 'closing';
  readonly shards: readonly ShardHealth[];
}

/** Checks all shards; never rejects and takes about a second at most. */
export interface HealthCheck {
  (): Promise<readonly ShardHealth[]>;
  /** Whether the caller of a request may see why a shard is down. Default: no caller may. */
  readonly isOperator?: (request: RequestHead) => Promise<boolean>;
}

/** The report on these shards. */
export function readinessOf(shards: readonly ShardHealth[]): ReadinessReport {
  if (shards.every(({ status }) => status === 'up')) return { status: 'ready', shards };
  return { status: shards.some(({ status }) => status !== 'down') ? 'degraded' : 'unavailable', shards };
}

/** A report for callers who are no operators. */
export function withoutDetails({ status, shards }: ReadinessReport): ReadinessReport {
  return { status, shards: shards.map(({ reason: _, ...shown }) => shown) };
}
