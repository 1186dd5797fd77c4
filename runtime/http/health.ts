import { time } from '../concurrency/time.js';

/** The state of one shard. */
export interface ShardHealth {
  /** `(group, member)` */
  readonly shard: string;
  readonly name: string;
  readonly status: 'up' | 'down';
  /** Why it is down, for operators. */
  readonly reason?: string;
}

/** What `/health/ready` reports. */
export interface ReadinessReport {
  /**
   * `ready`: all shards answer. `degraded`: some do, and their requests are served. `unavailable`: no shard answers.
   */
  readonly status: 'ready' | 'degraded' | 'unavailable' | 'closing';
  readonly shards: readonly ShardHealth[];
}

/** Checks all shards; never rejects and takes about a second at most. */
export type HealthCheck = () => Promise<readonly ShardHealth[]>;

/** Lifetime of a cached check of the shards, in milliseconds. */
const FRESH_MS = 1_000;

/** Readiness of the server. One check serves all callers for a second, so frequent requests cost nothing. */
export class Readiness {
  readonly #check: HealthCheck;
  #last: Promise<ReadinessReport> | undefined;
  #freshUntil = 0;

  constructor(check: HealthCheck) {
    this.#check = check;
  }

  report(): Promise<ReadinessReport> {
    const now = time.nowMs();
    if (this.#last === undefined || now > this.#freshUntil) {
      this.#freshUntil = now + FRESH_MS;
      this.#last = this.#check().then(reportOf);
    }
    return this.#last;
  }
}

function reportOf(shards: readonly ShardHealth[]): ReadinessReport {
  const up = shards.filter(({ status }) => status === 'up').length;
  return { status: up === shards.length ? 'ready' : up > 0 ? 'degraded' : 'unavailable', shards };
}
