import { Counter, type Metric, type Registry } from 'prom-client';
import { type ActionStatistics, DURATION_BOUNDS } from '../action/action-statistics.js';

const DURATION = 'fw_action_duration_seconds';

/** Adds metrics of executed actions, read once per scrape. */
export function addActionMetrics(registry: Registry, statistics: () => readonly ActionStatistics[]): void {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'fw_actions_total',
    help: 'Executions by action and outcome: ok, replayed, or the code of the error',
    labelNames: ['action', 'outcome'],
    registers,
    collect: () => {
      outcomes.reset();
      for (const { action, outcomes: counts } of statistics())
        for (const [outcome, count] of counts) outcomes.inc({ action, outcome }, count);
    },
  });
  const retries = new Counter({
    name: 'fw_action_retries_total',
    help: 'Attempts that were followed by another one, by how they ended',
    labelNames: ['action', 'reason'],
    registers,
    collect: () => {
      retries.reset();
      for (const { action, retries: counts } of statistics())
        for (const [reason, count] of counts) retries.inc({ action, reason }, count);
    },
  });
  // The library counts with labels that it hashes for each observation, which would cost more than counting itself.
  const durations = {
    name: DURATION,
    help: 'Time of an execution over all its attempts',
    type: 'histogram',
    aggregator: 'sum',
    get: () =>
      Promise.resolve({
        ...{ name: DURATION, help: durations.help, type: durations.type, aggregator: durations.aggregator },
        values: statistics().flatMap(valuesOf),
      }),
    reset: () => {},
  };
  registry.registerMetric(durations as unknown as Metric);
}

interface HistogramValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

function valuesOf({ action, durations, seconds }: ActionStatistics): readonly HistogramValue[] {
  let total = 0;
  const buckets = durations.map((count, at): HistogramValue => {
    total += count;
    return {
      labels: { action, le: DURATION_BOUNDS[at] ?? '+Inf' },
      value: total,
      metricName: `${DURATION}_bucket`,
    };
  });
  return [
    ...buckets,
    { labels: { action }, value: seconds, metricName: `${DURATION}_sum` },
    { labels: { action }, value: total, metricName: `${DURATION}_count` },
  ];
}
