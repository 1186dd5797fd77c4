import { Durations } from '../runtime/concurrency/durations.js';
import { ShardIdentifier } from '../runtime/domain/shard-identifier.js';
import { createMetrics } from '../runtime/observability/prometheus.js';

/** One metric of the page about metrics. */
export interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const shard = ShardIdentifier.of(0, 0);

/** Every metric of the package, in the order of `/metrics`, read from what a process with all parts shows. */
export async function describedMetrics(): Promise<readonly DescribedMetric[]> {
  const durations = new Durations();
  durations.add(1);
  const { counts, seconds, exemplars } = durations;
  const once = new Map([['x', 1]]);
  const consumer = { name: 'x', handler: 'x', holder: undefined, waitingFor: undefined };
  const metrics = createMetrics({
    statistics: () => [
      {
        ...{ shard, name: 'x', isServed: true, maximumConnections: 1, queued: 0 },
        pool: { open: 0, idle: 0, waiting: 0, circuit: 'closed' },
        written: { statements: 0, plans: 0, folded: 0, splits: 0 },
        replicaSkips: { behind: 1, slow: 0, unreachable: 0, cancelled: 0, promoted: 0 },
      },
    ],
    actions: () => [
      {
        action: 'x',
        outcomes: once,
        retries: new Map([['stale', 1]]),
        durations: counts,
        seconds,
        exemplars,
      },
    ],
    remembered: () => ({ hit: 0, miss: 0, disproven: 0 }),
    handledAges: () => new Map([['x', durations]]),
    lag: async () => [
      {
        ...{
          shard,
          horizon: { transactionId: '1', ageMs: 0, holders: [] },
          dueActions: 0,
          actionsWaitFor: undefined,
          failedActions: 0,
        },
        failovers: [],
        sagas: [{ saga: 'x', running: 0, parked: 0, oldestMs: 0 }],
        consumers: [{ ...consumer, kind: 'live', behind: 0, behindMs: 0, deadLetters: 0, parkedModels: 0 }],
      },
    ],
    journal: () => [{ shard, open: 0, flagged: 0, finished: 0, failed: 0 }],
    sinks: () => [{ shard, sink: 'x', accepted: 0, rejected: 0, deferred: 0, accepting: true }],
    retention: () => [
      {
        ...{ shard, allowed: true, lastDone: new Date(0), partitionsUntil: new Date(0), kept: 0 },
        ...{ droppedPartitions: 0, deletedRows: 0, failures: 0 },
      },
    ],
  });
  metrics.observe({ method: 'GET', route: '/', status: 200, ms: 1, traceId: undefined });
  metrics.refused(401, 'rule');
  const limits = { requests: 1, requestsPerShard: 1 };
  metrics.watchBusy({
    inFlight: 0,
    limits,
    openFeeds: 0,
    shards: [{ shard: shard.bits, inFlight: 0, refused: 0 }],
  });
  return described(await metrics.render());
}

function described(text: string): readonly DescribedMetric[] {
  return [...text.matchAll(/^# HELP (fw_\w+) (.*)\n# TYPE \w+ (\w+)\n(.*)$/gm)].map(
    ([, name = '', help = '', type = '', sample = '']) => {
      const labels = [...sample.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
      return { name, type, help, labels: labels.filter((label) => label !== 'le') };
    },
  );
}
