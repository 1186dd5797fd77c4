import type { RequestHead } from '../access/authenticator.js';
import { time } from '../concurrency/time.js';

/** The state of one shard. */
export interface ShardHealth {
  /** `(group, member)` */
  readonly shard: string;
  readonly name: string;
  readonly status: 'up' | 'down';
  /** An error code, if it is down. */
  readonly code?: string;
  /** Why it is down. May name hosts and users, so only operators see it. */
  readonly reason?: string;
  /**
   * How far the clock of this process is ahead of the shard's, in milliseconds, if more than
   * `fw.maximum-clock-skew-ms`; negative: behind. Only operators see it.
   */
  readonly clockSkewMs?: number;
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
export interface HealthCheck {
  (): Promise<readonly ShardHealth[]>;
  /** Whether the caller of a request may see why a shard is down. Default: no caller may. */
  readonly isOperator?: (request: RequestHead) => Promise<boolean>;
}

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

  /** @param details whether the report contains reasons */
  async report(details = false): Promise<ReadinessReport> {
    const now = time.nowMs();
    if (this.#last === undefined || now > this.#freshUntil) {
      this.#freshUntil = now + FRESH_MS;
      this.#last = this.#check().then(reportOf);
    }
    const report = await this.#last;
    return details
      ? report
      : { ...report, shards: report.shards.map(({ reason: _, clockSkewMs: __, ...shown }) => shown) };
  }

  /** Whether the caller of this request may see reasons. Invalid credentials are those of a stranger. */
  async admits(request: RequestHead): Promise<boolean> {
    const { isOperator } = this.#check;
    if (isOperator === undefined) return false;
    try {
      return await isOperator(request);
    } catch {
      return false;
    }
  }
}

function reportOf(shards: readonly ShardHealth[]): ReadinessReport {
  const up = shards.filter(({ status }) => status === 'up').length;
  return { status: up === shards.length ? 'ready' : up > 0 ? 'degraded' : 'unavailable', shards };
}
