import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import { DURATION_BOUNDS, type DurationCounts, type Exemplar } from '../concurrency/durations.js';

/** Adds metrics of one source to a registry. @returns what shows the source in them, called before each scrape */
export type MetricSet<Source> = (registry: Registry) => (source: Source) => void;

type Labels = Readonly<Record<string, string>>;

/** Numbers that have the same labels. */
interface Numbers<Source, Item> {
  /** The items of a source. Those with equal labels are added up. */
  readonly items: (source: Source) => Iterable<Item>;
  /** The labels of one item. */
  readonly labels: Readonly<Record<string, (item: Item) => string>>;
  /** What each metric means. Names that end in `_total` are counters, all others gauges. */
  readonly help: Readonly<Record<string, string>>;
  /** The value of each metric for one item; undefined: none. */
  readonly values: (item: Item) => Readonly<Record<string, number | undefined>>;
}

export function numbers<Source, Item>({
  items,
  labels,
  help,
  values,
}: Numbers<Source, Item>): MetricSet<Source> {
  return (registry) => {
    const labelNames = Object.keys(labels);
    const metrics = Object.entries(help).map(([name, text]) => {
      const Kind = name.endsWith('_total') ? Counter : Gauge;
      return { name, metric: new Kind({ name, help: text, labelNames, registers: [registry] }) };
    });
    return (source) => {
      // Shards, handlers and sinks come and go.
      for (const { metric } of metrics) metric.reset();
      for (const item of items(source)) {
        const shown = Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, label(item)]));
        const numbersOf = values(item);
        for (const { name, metric } of metrics) {
          const number = numbersOf[name];
          if (number !== undefined) metric.inc(shown, number);
        }
      }
    };
  };
}

/** A histogram whose durations are counted elsewhere. */
interface Histogram<Source> {
  readonly name: string;
  readonly help: string;
  /** The durations of a source with their labels. */
  readonly items: (source: Source) => Iterable<readonly [Labels, DurationCounts]>;
}

interface HistogramValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
  readonly exemplar?: object | undefined;
}

export function histogram<Source>({ name, help, items }: Histogram<Source>): MetricSet<Source> {
  return (registry) => {
    let values: readonly HistogramValue[] = [];
    const common = { name, help, type: 'histogram', aggregator: 'sum' };
    const metric = { ...common, get: async () => ({ ...common, values }), reset: () => {} };
    registry.registerMetric(metric as unknown as Metric);
    return (source) => {
      values = [...items(source)].flatMap(([labels, durations]) => valuesOf(name, labels, durations));
    };
  };
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
