import { Counter, Gauge, type Registry } from 'prom-client';
import type { RetentionStatus } from '../retention/retention-keeper.js';

/** Undefined: unknown. */
type RetentionValue = (status: RetentionStatus) => number | undefined;

/** Adds the retention status of each shard that was checked. */
export function addRetentionMetrics(registry: Registry, statuses: () => readonly RetentionStatus[]): void {
  const add = (
    Kind: typeof Gauge | typeof Counter,
    name: string,
    help: string,
    value: RetentionValue,
  ): void => {
    const metric = new Kind({
      name,
      help,
      labelNames: ['shard'],
      registers: [registry],
      collect: () => {
        // Shards may be added and removed.
        metric.reset();
        for (const status of statuses()) {
          const number = value(status);
          if (number !== undefined) metric.inc({ shard: status.shard.toString() }, number);
        }
      },
    });
  };
  add(
    Gauge,
    'fw_retention_last_done_timestamp_seconds',
    'Time of the last complete retention run of any process',
    ({ lastDone }) => seconds(lastDone),
  );
  add(
    Gauge,
    'fw_retention_partitions_until_timestamp_seconds',
    'End of the last partition',
    ({ partitionsUntil }) => seconds(partitionsUntil),
  );
  add(Gauge, 'fw_retention_kept_partitions', 'Expired partitions that are still needed', ({ kept }) => kept);
  add(
    Counter,
    'fw_retention_dropped_partitions_total',
    'Partitions that this process has dropped',
    ({ droppedPartitions }) => droppedPartitions,
  );
  add(
    Counter,
    'fw_retention_deleted_rows_total',
    'Keys, scheduled actions and saga records that this process has deleted',
    ({ deletedRows }) => deletedRows,
  );
  add(
    Counter,
    'fw_retention_failures_total',
    'Failed retention runs of this process',
    ({ failures }) => failures,
  );
}

function seconds(date: Date | undefined): number | undefined {
  return date === undefined ? undefined : date.getTime() / 1_000;
}
