import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import { within } from '../concurrency/at-most.js';
import { fresh } from '../concurrency/fresh.js';
import { type HttpAnswer, HttpAnswers } from './http-answers.js';
import { type HttpBusy, METRIC_SETS, type Sources } from './metric-sets.js';
import { openMetricsOf } from './open-metrics.js';

type Reads = {
  readonly [S in Exclude<keyof Sources, 'answers' | 'busy'>]: () => Sources[S] | Promise<Sources[S]>;
};

/**
 * Functions that read the sources, called once per scrape; `lag` at most every 10 seconds, because it queries the
 * databases. An absent one: this process has no such part, for example because it does not deliver.
 */
export type MetricsSources = Partial<Omit<Reads, 'statistics'>> & {
  readonly statistics: () => Sources['statistics'];
};

/** `prometheus`: text format 0.0.4. `openmetrics`: 1.0.0, in which durations refer to traces. */
export type MetricsFormat = 'prometheus' | 'openmetrics';

/** Metrics of one process. */
export interface Metrics {
  readonly contentTypes: Readonly<Record<MetricsFormat, string>>;
  /** Must be called for every answer. Returns at once. */
  observe(answer: HttpAnswer): void;
  /** Counts a caller who was answered with 401 or 403. */
  refused(status: number, reason: RefusalReason): void;
  /** Adds the numbers of requests in progress and refused ones, read once per scrape. */
  watchBusy(busy: HttpBusy): void;
  /** Default format: `prometheus`. */
  render(format?: MetricsFormat): Promise<string>;
}

/**
 * Why a caller is refused. `rule`: the rule of the action; `reach`: the group of a shard, or a route without a rule.
 */
export type RefusalReason = 'no-credentials' | 'invalid-credentials' | 'rule' | 'reach';

const LAG_FRESH_MS = 10_000;
const LAG_PATIENCE_MS = 2_000;

/**
 * Collects the metrics. Labels are routes, methods, statuses, shards and handlers: their number is bounded by the
 * application and its topology, not by requests.
 */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const updates: (() => Promise<void>)[] = [];
  const add = <S extends keyof Sources>(
    name: S,
    read: (() => Sources[S] | Promise<Sources[S]>) | undefined,
  ): void => {
    if (read === undefined) return;
    const shows = METRIC_SETS[name].map((set) => set(registry));
    updates.push(async () => {
      const source = await read();
      for (const show of shows) show(source);
    });
  };
  const { statistics, lag } = sources;
  let shards: Sources['statistics'] = [];
  // One query for several scrapes. Empty while the databases do not answer.
  const readLag = lag && (() => within(Promise.resolve(lag()), LAG_PATIENCE_MS, () => []).catch(() => []));
  add('statistics', () => {
    shards = statistics();
    return shards;
  });
  add('actions', sources.actions);
  add('remembered', sources.remembered);
  add('handledAges', sources.handledAges);
  add('lag', readLag && fresh(readLag, LAG_FRESH_MS));
  add('journal', sources.journal);
  add('sinks', sources.sinks);
  add('retention', sources.retention);
  const answers = new HttpAnswers();
  add('answers', () => answers.all);
  const refused = addRefusalMetrics(registry);
  return {
    contentTypes: {
      prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
      openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
    },
    observe: (answer) => answers.add(answer),
    refused,
    watchBusy: (busy) => add('busy', () => ({ busy, shards })),
    render: async (format) => {
      await Promise.all(updates.map((update) => update()));
      return (format === 'openmetrics' ? openMetricsOf(registry) : registry).metrics();
    },
  };
}

function addRefusalMetrics(registry: Registry): Metrics['refused'] {
  const refusals = new Counter({
    name: 'fw_http_refused_callers_total',
    help: 'Answers 401 and 403: `no-credentials`, `invalid-credentials`, `rule` of the action, `reach` of the caller',
    labelNames: ['status', 'reason'],
    registers: [registry],
  });
  return (status, reason) => refusals.inc({ status, reason });
}
