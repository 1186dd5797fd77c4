import type { ActionStatistics, RememberedCounts } from '../action/action-statistics.js';
import type { DurationCounts } from '../concurrency/durations.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ShardLag } from '../events/lag.js';
import type { JournalStatistics } from '../persistence/journal/journal-statistics.js';
import type { SinkStatistics } from '../relay/sink-definition.js';
import type { RetentionStatus } from '../retention/retention-keeper.js';
import type { HttpAnswers } from './http-answers.js';
import { histogram, type MetricSet, numbers } from './metric-set.js';
import type { ShardStatistics } from './shard-statistics.js';

/** Requests in progress at the HTTP server, and their limits. */
export interface HttpBusy {
  readonly inFlight: number;
  readonly limits: { readonly requests: number; readonly requestsPerShard: number };
  readonly shards: readonly HttpShardBusy[];
  /** Event streams that are open. */
  readonly openFeeds: number;
}

/** The requests of one shard. */
export interface HttpShardBusy {
  /** Bits of the shard, or -1 for requests whose path names none. */
  readonly shard: number;
  readonly inFlight: number;
  /** Since the start of the process. */
  readonly refused: number;
}

/** What the metrics show, by source. */
export interface Sources {
  readonly statistics: readonly ShardStatistics[];
  readonly actions: readonly ActionStatistics[];
  readonly remembered: RememberedCounts;
  /** Ages of handled events, by handler. */
  readonly handledAges: ReadonlyMap<string, DurationCounts>;
  readonly lag: readonly ShardLag[];
  readonly journal: readonly JournalStatistics[];
  readonly sinks: readonly SinkStatistics[];
  readonly retention: readonly RetentionStatus[];
  readonly answers: HttpAnswers['all'];
  /** `shards`: all of the process. */
  readonly busy: { readonly busy: HttpBusy; readonly shards: readonly OfShard[] };
}

interface OfShard {
  readonly shard: ShardIdentifier;
}

const SHARD = { shard: ({ shard }: OfShard): string => shard.toString() };

/** All metrics, by their source, in the order of `/metrics`. */
export const METRIC_SETS: { readonly [S in keyof Sources]: readonly MetricSet<Sources[S]>[] } = {
  statistics: [
    numbers({
      items: (shards) => shards,
      labels: { ...SHARD, name: ({ name }) => name },
      help: {
        fw_shard_connections_open: 'Connections of the pool, with listening and abandoned ones',
        fw_shard_connections_idle: 'Idle connections of the pool',
        fw_shard_connections_maximum: 'Maximum number of connections of the pool',
        fw_shard_connection_waiters: 'Callers waiting for a connection',
        fw_shard_circuit_open:
          '1 while calls are refused: from the time when the database became unreachable until a call reaches it again, or while the shard is out of service',
        fw_shard_plans_queued: 'Plans waiting to be sent',
        fw_shard_plans_total: 'Plans that were sent',
        fw_shard_write_statements_total:
          'Statements that wrote plans: plans per statement are the batch size',
        fw_shard_plans_folded_total: 'Plans folded with a plan that they depend on',
        fw_shard_statement_splits_total: 'Statements that failed as a whole and were split',
      },
      values: ({ pool, isServed, maximumConnections, queued, written }) => ({
        fw_shard_connections_open: pool.open + (pool.listening ?? 0) + (pool.leaving ?? 0),
        fw_shard_connections_idle: pool.idle,
        fw_shard_connections_maximum: maximumConnections,
        fw_shard_connection_waiters: pool.waiting,
        fw_shard_circuit_open: Number(!isServed || pool.circuit !== 'closed'),
        fw_shard_plans_queued: queued,
        fw_shard_plans_total: written.plans,
        fw_shard_write_statements_total: written.statements,
        fw_shard_plans_folded_total: written.folded,
        fw_shard_statement_splits_total: written.splits,
      }),
    }),
    numbers({
      items: (shards) =>
        shards.flatMap(({ shard, replicaSkips = {} }) =>
          Object.entries(replicaSkips).map(([reason, count]) => ({ shard, reason, count })),
        ),
      labels: { ...SHARD, reason: ({ reason }) => reason },
      help: {
        fw_replica_skipped_total:
          'Reads that the primary has answered in place of the replica: that is `behind`, `slow`, `unreachable`, has `cancelled` the read, or was `promoted`',
      },
      values: ({ count }) => ({ fw_replica_skipped_total: count }),
    }),
  ],
  actions: [
    numbers({
      items: (all) => all.flatMap(({ action, outcomes }) => countedBy(action, outcomes)),
      labels: { action: ([action]) => action, outcome: ([, outcome]) => outcome },
      help: {
        fw_actions_total:
          'Executions by outcome: `ok`, `replayed`, or the code of the error, such as `FW_COMMIT_OUTCOME_UNKNOWN`',
      },
      values: ([, , count]) => ({ fw_actions_total: count }),
    }),
    numbers({
      items: (all) => all.flatMap(({ action, retries }) => countedBy(action, retries)),
      labels: { action: ([action]) => action, reason: ([, reason]) => reason },
      help: {
        fw_action_retries_total:
          'Attempts followed by another one, by how they ended: `lost` ones were fenced, `unconfirmed` ones had read what no statement proved',
      },
      values: ([, , count]) => ({ fw_action_retries_total: count }),
    }),
    histogram({
      name: 'fw_action_duration_seconds',
      help: 'Time of an execution over all its attempts',
      items: (all) => all.map(({ action, durations: counts, ...each }) => [{ action }, { ...each, counts }]),
    }),
  ],
  remembered: [
    numbers({
      items: (counts) => Object.entries(counts),
      labels: { outcome: ([outcome]) => outcome },
      help: {
        fw_remembered_models_total:
          'Reads by id in actions: `hit` without a query, `miss`, and the hits that were `disproven`',
      },
      values: ([, count]) => ({ fw_remembered_models_total: count }),
    }),
  ],
  handledAges: [
    histogram({
      name: 'fw_event_delivery_seconds',
      help: 'Age of events at the end of their handling in this process, without replays',
      items: (all) => [...all].map(([handler, ages]) => [{ handler }, ages]),
    }),
  ],
  lag: [
    numbers({
      items: (shards) =>
        // Each replay has its own name, and ends; what it parks stays.
        shards.flatMap(({ shard, consumers }) =>
          consumers
            .filter(({ kind }) => kind === 'live')
            .map((each) => ({
              ...each,
              shard,
              all: consumers.filter(({ handler }) => handler === each.handler),
            })),
        ),
      labels: { ...SHARD, handler: ({ handler }) => handler },
      help: {
        fw_event_handler_behind_events: 'Events behind the checkpoint of a handler or sink, up to 10,000',
        fw_event_handler_behind_seconds: 'Age of the oldest event behind the checkpoint',
        fw_event_handler_waiting:
          '1 while a handler, saga or sink waits for a process of another release, its receiver, an operator, or the next attempt at an event that has failed twice or more',
        fw_event_dead_letters: 'Dead letters, and the events that wait behind them, also of replays',
        fw_event_parked_models: 'Models whose events wait behind a dead letter, also of replays',
      },
      values: ({ behind, behindMs, waitingFor, all }) => ({
        fw_event_handler_behind_events: behind,
        fw_event_handler_behind_seconds: behindMs / 1_000,
        fw_event_handler_waiting: Number(waitingFor !== undefined),
        fw_event_dead_letters: all.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
        fw_event_parked_models: all.reduce((sum, { parkedModels }) => sum + parkedModels, 0),
      }),
    }),
    numbers({
      items: (shards) => shards.flatMap(({ shard, sagas }) => sagas.map((each) => ({ ...each, shard }))),
      labels: { ...SHARD, saga: ({ saga }) => saga },
      help: {
        fw_sagas_running: 'Runs that continue by themselves',
        fw_sagas_parked: 'Runs that wait for an operator',
        fw_saga_oldest_seconds: 'Age of the oldest run that has not ended',
      },
      values: ({ running, parked, oldestMs }) => ({
        fw_sagas_running: running,
        fw_sagas_parked: parked,
        fw_saga_oldest_seconds: oldestMs / 1_000,
      }),
    }),
    numbers({
      items: (shards) => shards,
      labels: SHARD,
      help: {
        fw_event_log_horizon_age_seconds:
          'Age of the oldest transaction that holds back all events after it; `fw-gen events lag` names it. Without the right to see it: age of the oldest event held back',
        fw_scheduled_actions_due: 'Scheduled actions that are due but have not run',
        fw_scheduled_actions_failed: 'Scheduled actions whose last attempt has failed',
        fw_scheduled_actions_waiting:
          '1 while scheduled actions wait for a process that knows the action, or its params',
      },
      values: ({ horizon, dueActions, failedActions, actionsWaitFor }) => ({
        fw_event_log_horizon_age_seconds: horizon.ageMs / 1_000,
        fw_scheduled_actions_due: dueActions,
        fw_scheduled_actions_failed: failedActions,
        fw_scheduled_actions_waiting: Number(actionsWaitFor !== undefined),
      }),
    }),
  ],
  journal: [
    numbers({
      items: (shards) =>
        shards.flatMap(({ shard, open, flagged }) => [
          { shard, state: 'open', count: open },
          { shard, state: 'flagged', count: flagged },
        ]),
      labels: { ...SHARD, state: ({ state }) => state },
      help: {
        fw_journal_entries:
          'Partially applied cross-shard plans: `open` ones are finished automatically, `flagged` ones need an operator',
      },
      values: ({ count }) => ({ fw_journal_entries: count }),
    }),
    numbers({
      items: (shards) => shards,
      labels: SHARD,
      help: {
        fw_journal_finished_total: 'Cross-shard plans that this process has finished',
        fw_journal_failed_attempts_total: 'Failed attempts of this process to finish a cross-shard plan',
      },
      values: ({ failed, finished }) => ({
        fw_journal_finished_total: finished,
        fw_journal_failed_attempts_total: failed,
      }),
    }),
  ],
  sinks: [
    numbers({
      items: (all) => all,
      labels: { ...SHARD, sink: ({ sink }) => sink },
      help: {
        fw_relay_messages_total: 'Messages that the receiver has accepted, including repetitions',
        fw_relay_rejected_total: 'Messages that the receiver has rejected',
        fw_relay_repeated_batches_total: 'Batches that were sent again, in full or in part',
        fw_relay_receiver_down: '1 while the receiver accepts no messages',
      },
      values: ({ accepted, rejected, deferred, accepting }) => ({
        fw_relay_messages_total: accepted,
        fw_relay_rejected_total: rejected,
        fw_relay_repeated_batches_total: deferred,
        fw_relay_receiver_down: Number(!accepting),
      }),
    }),
  ],
  retention: [
    numbers({
      items: (shards) => shards,
      labels: SHARD,
      help: {
        fw_retention_last_done_timestamp_seconds:
          'Time of the last complete retention run of any serving process',
        fw_retention_partitions_until_timestamp_seconds:
          'End of the last partition; alert if it is less than a week ahead',
        fw_retention_kept_partitions: 'Old partitions that are still needed, at the last run of this process',
        fw_retention_dropped_partitions_total: 'Partitions that this process has dropped',
        fw_retention_deleted_rows_total:
          'Keys, scheduled actions and saga records that this process has deleted',
        fw_retention_failures_total: 'Failed retention runs of this process',
      },
      values: ({ lastDone, partitionsUntil, kept, droppedPartitions, deletedRows, failures }) => ({
        fw_retention_last_done_timestamp_seconds: seconds(lastDone),
        fw_retention_partitions_until_timestamp_seconds: seconds(partitionsUntil),
        fw_retention_kept_partitions: kept,
        fw_retention_dropped_partitions_total: droppedPartitions,
        fw_retention_deleted_rows_total: deletedRows,
        fw_retention_failures_total: failures,
      }),
    }),
  ],
  answers: [
    numbers({
      items: (routes) =>
        routes.flatMap(({ method, route, statuses }) =>
          [...statuses].map(([status, count]) => ({ method, route, status: String(status), count })),
        ),
      labels: { method: ({ method }) => method, route: ({ route }) => route, status: ({ status }) => status },
      help: {
        fw_http_requests_total: 'Requests by response status. `route` is the declared path, or `unmatched`',
      },
      values: ({ count }) => ({ fw_http_requests_total: count }),
    }),
    histogram({
      name: 'fw_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its response',
      items: (routes) => routes.map(({ method, route, durations }) => [{ method, route }, durations]),
    }),
  ],
  busy: [
    numbers({
      items: ({ busy }) => [busy],
      labels: {},
      help: {
        fw_http_busy_in_flight: 'Requests in progress',
        fw_http_busy_limit: 'Maximum number of requests in progress',
        fw_http_open_feeds: 'Open event streams',
      },
      values: ({ inFlight, limits, openFeeds }) => ({
        fw_http_busy_in_flight: inFlight,
        fw_http_busy_limit: limits.requests,
        fw_http_open_feeds: openFeeds,
      }),
    }),
    numbers({
      items: busyByName,
      labels: { shard: ({ name }) => name },
      help: {
        fw_http_busy_shard_in_flight: 'Requests in progress by shard; `none` if the path names no shard',
        fw_http_busy_shard_limit: 'Maximum number of requests in progress on one shard',
        fw_http_busy_refused_total: 'Requests refused because of overload',
      },
      values: ({ inFlight, limit, refused }) => ({
        fw_http_busy_shard_in_flight: inFlight,
        fw_http_busy_shard_limit: limit,
        fw_http_busy_refused_total: refused,
      }),
    }),
  ],
};

function countedBy(
  action: string,
  counts: ReadonlyMap<string, number>,
): readonly (readonly [action: string, kind: string, count: number])[] {
  return [...counts].map(([kind, count]) => [action, kind, count]);
}

function seconds(date: Date | undefined): number | undefined {
  return date === undefined ? undefined : date.getTime() / 1_000;
}

interface NamedBusy {
  /** `none` for requests that name no shard, or an unknown one. */
  readonly name: string;
  readonly limit: number;
  inFlight: number;
  refused: number;
}

function busyByName({ busy, shards: known }: Sources['busy']): Iterable<NamedBusy> {
  const names = new Map(known.map(({ shard }) => [shard.bits, shard.toString()]));
  const { shards, limits } = busy;
  const byName = new Map<string, NamedBusy>();
  for (const { shard, inFlight, refused } of shards) {
    const name = names.get(shard) ?? 'none';
    const named = byName.get(name) ?? { name, limit: limits.requestsPerShard, inFlight: 0, refused: 0 };
    named.inFlight += inFlight;
    named.refused += refused;
    byName.set(name, named);
  }
  return byName.values();
}
