import { Counter, Gauge, type Registry } from 'prom-client';
import type { ShardStatistics } from './shard-statistics.js';

/** Requests in progress at the HTTP server, and their limits. */
export interface HttpBusy {
  readonly inFlight: number;
  readonly limits: { readonly requests: number; readonly requestsPerShard: number };
  readonly shards: readonly HttpShardBusy[];
  /** Event streams that are open. */
  readonly openFeeds: number;
}

/** The requests of one shard. */
export interface HttpShardBusy {
  /** Bits of the shard, or -1 for requests whose path names none. */
  readonly shard: number;
  readonly inFlight: number;
  /** Since the start of the process. */
  readonly refused: number;
}

/**
 * Adds metrics of requests in progress and refused ones.
 *
 * @returns an update function, to be called before the metrics are rendered. Unknown shards share one label.
 */
export function addBusyMetrics(
  registry: Registry,
  busy: HttpBusy,
): (shards: readonly ShardStatistics[]) => void {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const labelNames = ['shard'];
  const shardGauge = (name: string, help: string): Gauge => new Gauge({ name, help, labelNames, registers });
  const inFlight = gauge('fw_http_busy_in_flight', 'Requests in progress');
  const limit = gauge('fw_http_busy_limit', 'Maximum requests in progress');
  const feeds = gauge('fw_http_open_feeds', 'Event streams that are open');
  const ofShard = shardGauge('fw_http_busy_shard_in_flight', 'Requests in progress by shard');
  const limitOfShard = shardGauge('fw_http_busy_shard_limit', 'Maximum requests in progress by shard');
  const refused = new Counter({
    name: 'fw_http_busy_refused_total',
    help: 'Requests that were refused because too many were in progress',
    labelNames,
    registers,
  });
  return (shards) => {
    const names = new Map(shards.map(({ shard }) => [shard.bits, shard.toString()]));
    const { limits, shards: busyShards } = busy;
    inFlight.set(busy.inFlight);
    limit.set(limits.requests);
    feeds.set(busy.openFeeds);
    for (const metric of [ofShard, limitOfShard, refused]) metric.reset();
    for (const each of busyShards) {
      const labels = { shard: names.get(each.shard) ?? 'none' };
      ofShard.inc(labels, each.inFlight);
      limitOfShard.set(labels, limits.requestsPerShard);
      refused.inc(labels, each.refused);
    }
  };
}
