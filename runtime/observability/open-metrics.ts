import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client';

/** What the library calls to render a metric. */
interface Rendered {
  readonly name: string;
  readonly type: string;
  get(): Promise<object>;
}

/**
 * The metrics of a registry in the format OpenMetrics 1.0.0, which has exemplars. The library removes `_total` from the
 * names of counters for good when it renders this format, so it gets copies of the names.
 */
export function openMetricsOf(registry: Registry): Registry<OpenMetricsContentType> {
  const shown = new Registry<OpenMetricsContentType>();
  shown.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray() as unknown as readonly Rendered[]) {
    const { name, type } = metric;
    const view: Rendered = { name, type, get: async () => ({ ...(await metric.get()), name: view.name }) };
    shown.registerMetric(view as unknown as Metric);
  }
  return shown;
}
