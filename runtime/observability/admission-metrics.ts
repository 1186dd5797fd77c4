import { Counter, Gauge, type Registry } from 'prom-client';
import type { ShardStatistics } from './shard-statistics.js';

/** Admission statistics of the HTTP server. */
export interface HttpAdmission {
  readonly inFlight: number;
  readonly limit: number;
  readonly waiting: number;
  readonly held: number;
  readonly gates: readonly HttpGate[];
}

/** Admission statistics of one shard. */
export interface HttpGate {
  /** Bits of the shard, or -1 for requests whose path names none. */
  readonly shard: number;
  readonly inFlight: number;
  readonly limit: number;
  /** Since the start of the process. */
  readonly refused: number;
}

/**
 * Adds metrics of admitted and refused requests.
 *
 * @returns an update function, to be called before the metrics are rendered. Unknown shards share one label.
 */
export function addAdmissionMetrics(
  registry: Registry,
  admission: () => HttpAdmission,
): (shards: readonly ShardStatistics[]) => void {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const labelNames = ['shard'];
  const shardGauge = (name: string, help: string): Gauge => new Gauge({ name, help, labelNames, registers });
  const inFlight = gauge('fw_http_busy_in_flight', 'Requests in progress');
  const limit = gauge('fw_http_busy_limit', 'Maximum requests in progress, derived from measured latency');
  const waiting = gauge('fw_http_busy_waiting', 'Requests waiting for admission');
  const held = gauge(
    'fw_http_busy_held',
    'Requests of clients that retried before the end of their Retry-After',
  );
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
    const now = admission();
    inFlight.set(now.inFlight);
    limit.set(now.limit);
    waiting.set(now.waiting);
    held.set(now.held);
    for (const metric of [ofShard, limitOfShard, refused]) metric.reset();
    for (const gate of now.gates) {
      const labels = { shard: names.get(gate.shard) ?? 'none' };
      ofShard.inc(labels, gate.inFlight);
      limitOfShard.inc(labels, gate.limit);
      refused.inc(labels, gate.refused);
    }
  };
}
