import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of one source that have the same labels. */
export interface MetricSet<T> {
  /** The labels of one item. */
  readonly labels: Readonly<Record<string, (item: T) => string>>;
  /** Called once per scrape. Items with equal labels are added up. */
  readonly read: () => Iterable<T> | Promise<Iterable<T>>;
  /** What each metric means. Names that end in `_total` are counters, all others gauges. */
  readonly help: Readonly<Record<string, string>>;
  /** The value of each metric for one item; undefined: none. */
  readonly values: (item: T) => Readonly<Record<string, number | undefined>>;
}

/** Adds metrics to a registry. @returns what reads their source, to be called before each scrape */
export function addSet<T>(
  registry: Registry,
  { labels, read, help, values }: MetricSet<T>,
): () => Promise<void> {
  const labelNames = Object.keys(labels);
  const metrics = Object.entries(help).map(([name, text]) => {
    const Kind = name.endsWith('_total') ? Counter : Gauge;
    return { name, metric: new Kind({ name, help: text, labelNames, registers: [registry] }) };
  });
  return async () => {
    const items = await read();
    // Shards, handlers and sinks come and go.
    for (const { metric } of metrics) metric.reset();
    for (const item of items) {
      const shown = Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, label(item)]));
      const numbers = values(item);
      for (const { name, metric } of metrics) {
        const number = numbers[name];
        if (number !== undefined) metric.inc(shown, number);
      }
    }
  };
}
