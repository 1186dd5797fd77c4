import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { ActionStatistics, RememberedCounts } from '../action/action-statistics.js';
import { within } from '../concurrency/at-most.js';
import type { DurationCounts } from '../concurrency/durations.js';
import { time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConsumerLag, SagaLag, ShardLag } from '../events/lag.js';
import type { JournalStatistics } from '../persistence/journal/journal-statistics.js';
import type { SinkStatistics } from '../relay/sink-definition.js';
import type { RetentionStatus } from '../retention/retention-keeper.js';
import { addActionMetrics, addRememberedMetrics } from './action-metrics.js';
import { addBusyMetrics, type HttpBusy } from './busy-metrics.js';
import { addDurations } from './duration-metric.js';
import { type HttpAnswer, HttpAnswers } from './http-answers.js';
import { openMetricsOf } from './open-metrics.js';
import { addRetentionMetrics } from './retention-metrics.js';
import type { ShardStatistics } from './shard-statistics.js';
import { addSinkMetrics } from './sink-metrics.js';

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
  const updateShards = addShardMetrics(registry);
  const updateJournal = sources.journal === undefined ? undefined : addJournalMetrics(registry);
  if (sources.actions !== undefined) addActionMetrics(registry, sources.actions);
  if (sources.remembered !== undefined) addRememberedMetrics(registry, sources.remembered);
  const { handledAges } = sources;
  if (handledAges !== undefined)
    addDurations(registry, {
      name: 'fw_event_delivery_seconds',
      help: 'Age of events at the end of their handling, without replays',
      read: () => [...handledAges()].map(([handler, ages]) => [{ handler }, ages]),
    });
  if (sources.lag !== undefined) addDeliveryMetrics(registry, latest(sources.lag));
  if (sources.sinks !== undefined) addSinkMetrics(registry, sources.sinks);
  if (sources.retention !== undefined) addRetentionMetrics(registry, sources.retention);
  if (sources.clocks !== undefined) addClockMetric(registry, sources.clocks);
  const answers = new HttpAnswers(registry);
  const refused = addRefusalMetrics(registry);
  const watched: ((statistics: readonly ShardStatistics[]) => void)[] = [];
  const render: Metrics['render'] = async (format) => {
    const statistics = sources.statistics();
    updateShards(statistics);
    for (const update of watched) update(statistics);
    updateJournal?.(sources.journal?.() ?? []);
    return (format === 'openmetrics' ? openMetricsOf(registry) : registry).metrics();
  };
  const watchBusy = (busy: HttpBusy): void => {
    watched.push(addBusyMetrics(registry, busy));
  };
  const contentTypes = {
    prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
    openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
  };
  return { contentTypes, observe: (answer) => answers.add(answer), refused, watchBusy, render };
}

function addClockMetric(registry: Registry, skewsMs: () => ReadonlyMap<ShardIdentifier, number>): void {
  const gauge = new Gauge({
    name: 'fw_clock_skew_seconds',
    help: "How far the clock of this process is ahead of the shard's; negative: behind",
    labelNames: ['shard'],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const [shard, skewMs] of skewsMs()) gauge.set({ shard: shard.toString() }, skewMs / 1_000);
    },
  });
}

function addRefusalMetrics(registry: Registry): Metrics['refused'] {
  const refusals = new Counter({
    name: 'fw_http_refused_callers_total',
    help: 'Answers 401 and 403 by reason',
    labelNames: ['status', 'reason'],
    registers: [registry],
  });
  return (status, reason) => refusals.inc({ status, reason });
}

type ShardValue = (statistics: ShardStatistics) => number;

/** @returns a function that must receive the statistics of all shards before the metrics are rendered */
function addShardMetrics(registry: Registry): (statistics: readonly ShardStatistics[]) => void {
  const updates: ((statistics: readonly ShardStatistics[]) => void)[] = [];
  const add = (Kind: typeof Gauge | typeof Counter, name: string, help: string, value: ShardValue): void => {
    const metric = new Kind({ name, help, labelNames: ['shard', 'name'], registers: [registry] });
    updates.push((statistics) => {
      // Shards may be added and removed.
      metric.reset();
      for (const each of statistics)
        metric.inc({ shard: each.shard.toString(), name: each.name }, value(each));
    });
  };
  add(
    Gauge,
    'fw_shard_connections_open',
    'Connections of the pool',
    ({ pool }) => pool.open + (pool.listening ?? 0) + (pool.leaving ?? 0),
  );
  add(Gauge, 'fw_shard_connections_idle', 'Idle connections', ({ pool }) => pool.idle);
  add(Gauge, 'fw_shard_connection_waiters', 'Callers waiting for a connection', ({ pool }) => pool.waiting);
  add(
    Gauge,
    'fw_shard_connections_maximum',
    'Maximum number of connections of the pool',
    (each) => each.maximumConnections,
  );
  add(
    Gauge,
    'fw_shard_circuit_open',
    '1 while calls of the shard are refused because its database is unreachable',
    ({ pool }) => Number(pool.circuit === 'open'),
  );
  add(Gauge, 'fw_shard_plans_queued', 'Plans waiting to be sent', (each) => each.queued);
  add(
    Counter,
    'fw_shard_write_statements_total',
    'Statements that wrote plans',
    ({ written }) => written.statements,
  );
  add(Counter, 'fw_shard_plans_total', 'Plans that were sent', ({ written }) => written.plans);
  add(
    Counter,
    'fw_shard_plans_folded_total',
    'Plans written in the same statement as a plan that they depend on',
    ({ written }) => written.folded,
  );
  add(
    Counter,
    'fw_shard_statement_splits_total',
    'Statements that failed as a whole and were split',
    ({ written }) => written.splits,
  );
  return (statistics) => {
    for (const update of updates) update(statistics);
  };
}

/** @returns a function that must receive the journal statistics of all shards before the metrics are rendered */
function addJournalMetrics(registry: Registry): (statistics: readonly JournalStatistics[]) => void {
  const labelNames = ['shard'];
  const registers = [registry];
  const entries = new Gauge({
    name: 'fw_journal_entries',
    help: 'Partially applied cross-shard plans: open ones are finished automatically, flagged ones need an operator',
    labelNames: ['shard', 'state'],
    registers,
  });
  const finished = new Counter({
    name: 'fw_journal_finished_total',
    help: 'Cross-shard plans that this process has finished',
    labelNames,
    registers,
  });
  const failed = new Counter({
    name: 'fw_journal_failed_attempts_total',
    help: 'Failed attempts of this process to finish a cross-shard plan',
    labelNames,
    registers,
  });
  return (statistics) => {
    for (const metric of [entries, finished, failed]) metric.reset();
    for (const each of statistics) {
      const shard = each.shard.toString();
      entries.set({ shard, state: 'open' }, each.open);
      entries.set({ shard, state: 'flagged' }, each.flagged);
      finished.inc({ shard }, each.finished);
      failed.inc({ shard }, each.failed);
    }
  };
}

/** Values with the handlers or sagas that they belong to. */
type Parts = readonly (readonly [string, number])[];

function addDeliveryMetrics(registry: Registry, lag: () => Promise<readonly ShardLag[]>): void {
  const add = (
    name: string,
    help: string,
    part: string | undefined,
    read: (lag: ShardLag) => Parts,
  ): void => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: part === undefined ? ['shard'] : ['shard', part],
      registers: [registry],
      collect: async () => {
        const lags = await lag();
        gauge.reset();
        for (const each of lags)
          for (const [label, value] of read(each))
            gauge.set({ shard: each.shard.toString(), ...(part !== undefined && { [part]: label }) }, value);
      },
    });
  };
  const ofShard = (name: string, help: string, value: (lag: ShardLag) => number): void =>
    add(name, help, undefined, (each) => [['', value(each)]]);
  const ofHandler = (name: string, help: string, value: (consumer: ConsumerLag) => number): void =>
    add(name, help, 'handler', ({ consumers }) =>
      // Each replay has its own name, and ends.
      consumers.filter(({ kind }) => kind === 'live').map((each) => [each.handler, value(each)]),
    );
  const ofSaga = (name: string, help: string, value: (saga: SagaLag) => number): void =>
    add(name, help, 'saga', ({ sagas }) => sagas.map((each) => [each.saga, value(each)]));
  ofSaga('fw_sagas_running', 'Runs of a saga that continue by themselves', ({ running }) => running);
  ofSaga('fw_sagas_parked', 'Runs of a saga that wait for an operator', ({ parked }) => parked);
  ofSaga(
    'fw_saga_oldest_seconds',
    'Age of the oldest run that has not ended',
    ({ oldestMs }) => oldestMs / 1_000,
  );
  ofHandler(
    'fw_event_handler_behind_events',
    'Events behind the checkpoint, up to 10,000',
    (each) => each.behind,
  );
  ofHandler(
    'fw_event_handler_behind_seconds',
    'Age of the oldest event behind the checkpoint',
    (each) => each.behindMs / 1_000,
  );
  ofHandler(
    'fw_event_dead_letters',
    'Dead letters and the events that wait behind them',
    (each) => each.deadLetters,
  );
  ofHandler(
    'fw_event_parked_models',
    'Models whose events wait behind a dead letter',
    (each) => each.parkedModels,
  );
  ofHandler(
    'fw_event_handler_waiting',
    '1 while it waits for another release, its receiver or an operator',
    (each) => Number(each.waitingFor !== undefined),
  );
  ofShard(
    'fw_event_log_horizon_age_seconds',
    'Age of the oldest transaction behind which no event is delivered yet',
    ({ horizon }) => horizon.ageMs / 1_000,
  );
  ofShard('fw_scheduled_actions_waiting', '1 while one waits for a process of another release', (each) =>
    Number(each.actionsWaitFor !== undefined),
  );
  ofShard(
    'fw_scheduled_actions_due',
    'Scheduled actions that are due but have not run',
    (each) => each.dueActions,
  );
  ofShard(
    'fw_scheduled_actions_failed',
    'Scheduled actions that were given up',
    (each) => each.failedActions,
  );
}

/** Caches one query for all metrics of several scrapes. Empty while the databases do not answer. */
function latest(lag: () => Promise<readonly ShardLag[]>): () => Promise<readonly ShardLag[]> {
  let known: Promise<readonly ShardLag[]> = Promise.resolve([]);
  let freshUntil = 0;
  return () => {
    if (time.nowMs() >= freshUntil) {
      freshUntil = time.nowMs() + LAG_FRESH_MS;
      known = within(lag(), LAG_PATIENCE_MS, () => []).catch(() => []);
    }
    return known;
  };
}
