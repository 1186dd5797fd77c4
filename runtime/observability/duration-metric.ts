import type { Metric, Registry } from 'prom-client';
import { DURATION_BOUNDS, type DurationCounts } from '../concurrency/durations.js';

/** A histogram whose durations are counted elsewhere. */
export interface DurationMetric {
  readonly name: string;
  readonly help: string;
  /** The only label. */
  readonly label: string;
  /** Called once per scrape. The durations by value of the label. */
  readonly read: () => readonly (readonly [string, DurationCounts])[];
}

interface HistogramValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

/** Adds a histogram that is read once per scrape. */
export function addDurations(registry: Registry, { name, help, label, read }: DurationMetric): void {
  const common = { name, help, type: 'histogram', aggregator: 'sum' };
  const values = (): readonly HistogramValue[] =>
    read().flatMap(([value, durations]) => valuesOf(name, { [label]: value }, durations));
  const metric = { ...common, get: () => Promise.resolve({ ...common, values: values() }), reset: () => {} };
  registry.registerMetric(metric as unknown as Metric);
}

function valuesOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  { counts, seconds }: DurationCounts,
): readonly HistogramValue[] {
  let total = 0;
  const buckets = counts.map((count, at): HistogramValue => {
    total += count;
    const le = DURATION_BOUNDS[at] ?? '+Inf';
    return { labels: { ...labels, le }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: seconds, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
