import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { ActionStatistics, RememberedCounts } from '../action/action-statistics.js';
import { within } from '../concurrency/at-most.js';
import type { DurationCounts } from '../concurrency/durations.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ShardLag } from '../events/lag.js';
import type { JournalStatistics } from '../persistence/journal/journal-statistics.js';
import type { SinkStatistics } from '../relay/sink-definition.js';
import type { RetentionStatus } from '../retention/retention-keeper.js';
import { addDurations } from './duration-metric.js';
import { fresh } from './fresh.js';
import { type HttpAnswer, HttpAnswers } from './http-answers.js';
import { addSet, type MetricSet } from './metric-set.js';
import {
  busyMetrics,
  busyShardMetrics,
  clockMetrics,
  type HttpBusy,
  handlerMetrics,
  journalEntryMetrics,
  journalMetrics,
  outcomeMetrics,
  rememberedMetrics,
  retentionMetrics,
  retryMetrics,
  sagaMetrics,
  shardLagMetrics,
  shardMetrics,
  sinkMetrics,
} from './metric-sets.js';
import { openMetricsOf } from './open-metrics.js';
import type { ShardStatistics } from './shard-statistics.js';

/** The sources of the metrics. */
export interface MetricsSources {
  /** Called once per scrape. */
  readonly statistics: () => readonly ShardStatistics[];
  /** Called at most every 10 seconds, because it queries the databases. Absent: this process does not deliver. */
  readonly lag?: () => Promise<readonly ShardLag[]>;
  /** Called once per scrape. Absent: this process executes no actions. */
  readonly actions?: () => readonly ActionStatistics[];
  /** Called once per scrape. Absent: this process executes no actions. */
  readonly remembered?: () => RememberedCounts;
  /** Called once per scrape. Ages of handled events by handler. Absent: this process does not deliver. */
  readonly handledAges?: () => ReadonlyMap<string, DurationCounts>;
  /** Called once per scrape. Absent: this process does not run journal recovery. */
  readonly journal?: () => readonly JournalStatistics[];
  /** Called for every scrape. Absent: this process runs no relay sink. */
  readonly sinks?: () => readonly SinkStatistics[];
  /** Called once per scrape. Absent: this process does not run retention. */
  readonly retention?: () => readonly RetentionStatus[];
  /** Called once per scrape. Milliseconds by shard. Absent: this process does not compare its clock. */
  readonly clocks?: () => ReadonlyMap<ShardIdentifier, number>;
}

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
  const add = <T>(set: MetricSet<T>): void => void updates.push(addSet(registry, set));
  const { lag, actions, remembered, handledAges, journal, sinks, retention, clocks } = sources;
  let statistics: readonly ShardStatistics[] = [];
  add(shardMetrics(() => statistics));
  if (actions !== undefined) {
    add(outcomeMetrics(actions));
    add(retryMetrics(actions));
    addDurations(registry, {
      name: 'fw_action_duration_seconds',
      help: 'Time of an execution over all its attempts',
      read: () =>
        actions().map(({ action, durations: counts, ...each }) => [{ action }, { ...each, counts }]),
    });
  }
  if (remembered !== undefined) add(rememberedMetrics(remembered));
  if (handledAges !== undefined)
    addDurations(registry, {
      name: 'fw_event_delivery_seconds',
      help: 'Age of events at the end of their handling in this process, without replays',
      read: () => [...handledAges()].map(([handler, ages]) => [{ handler }, ages]),
    });
  if (lag !== undefined) {
    // One query for all metrics of several scrapes. Empty while the databases do not answer.
    const known = fresh(() => within(lag(), LAG_PATIENCE_MS, () => []).catch(() => []), LAG_FRESH_MS);
    add(handlerMetrics(known));
    add(sagaMetrics(known));
    add(shardLagMetrics(known));
  }
  if (journal !== undefined) {
    add(journalEntryMetrics(journal));
    add(journalMetrics(journal));
  }
  if (sinks !== undefined) add(sinkMetrics(sinks));
  if (retention !== undefined) add(retentionMetrics(retention));
  if (clocks !== undefined) add(clockMetrics(clocks));
  const answers = new HttpAnswers(registry);
  const refused = addRefusalMetrics(registry);
  return {
    contentTypes: {
      prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
      openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
    },
    observe: (answer) => answers.add(answer),
    refused,
    watchBusy: (busy) => {
      add(busyMetrics(busy));
      add(busyShardMetrics(busy, () => statistics));
    },
    render: async (format) => {
      statistics = sources.statistics();
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
