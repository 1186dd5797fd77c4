import type { Metric, Registry } from 'prom-client';
import { DURATION_BOUNDS, type DurationCounts, type Exemplar } from '../concurrency/durations.js';

type Labels = Readonly<Record<string, string>>;

/** A histogram whose durations are counted elsewhere. */
export interface DurationMetric {
  readonly name: string;
  readonly help: string;
  /** Called once per scrape. The durations with their labels. */
  readonly read: () => readonly (readonly [Labels, DurationCounts])[];
}

interface HistogramValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
  readonly exemplar?: object | undefined;
}

/** Adds a histogram that is read once per scrape. */
export function addDurations(registry: Registry, { name, help, read }: DurationMetric): void {
  const common = { name, help, type: 'histogram', aggregator: 'sum' };
  const values = (): readonly HistogramValue[] =>
    read().flatMap(([labels, durations]) => valuesOf(name, labels, durations));
  const metric = { ...common, get: () => Promise.resolve({ ...common, values: values() }), reset: () => {} };
  registry.registerMetric(metric as unknown as Metric);
}

function valuesOf(
  name: string,
  labels: Labels,
  { counts, seconds, exemplars }: DurationCounts,
): readonly HistogramValue[] {
  let total = 0;
  const buckets = counts.map((count, at): HistogramValue => {
    total += count;
    const le = DURATION_BOUNDS[at] ?? '+Inf';
    const exemplar = shownExemplar(exemplars?.[at]);
    return { labels: { ...labels, le }, value: total, metricName: `${name}_bucket`, exemplar };
  });
  return [
    ...buckets,
    { labels, value: seconds, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}

function shownExemplar(exemplar: Exemplar | undefined): object | undefined {
  if (exemplar === undefined) return undefined;
  const { seconds: value, traceId, timeMs } = exemplar;
  return { labelSet: { trace_id: traceId }, value, timestamp: timeMs / 1_000 };
}
