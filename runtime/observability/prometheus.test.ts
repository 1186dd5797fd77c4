import { expect, test } from 'vitest';
import { Durations } from '../concurrency/durations.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { createMetrics } from './prometheus.js';

test('Metrics show the executions of each action by outcome, duration and reason of retries', async () => {
  const durations = [1, 0, 0, 2, ...Array<number>(10).fill(0)];
  const outcomes = new Map([
    ['ok', 2],
    ['FW_REFUSED', 1],
  ]);
  const deposit = {
    action: 'Deposit',
    outcomes,
    retries: new Map([['stale', 4] as const]),
    durations,
    seconds: 0.5,
  };
  const metrics = createMetrics({ statistics: () => [], actions: () => [deposit] });
  for (const text of [await metrics.render(), await metrics.render()])
    for (const line of [
      'fw_actions_total{action="Deposit",outcome="ok"} 2',
      'fw_actions_total{action="Deposit",outcome="FW_REFUSED"} 1',
      'fw_action_retries_total{action="Deposit",reason="stale"} 4',
      '# TYPE fw_action_duration_seconds histogram',
      'fw_action_duration_seconds_bucket{action="Deposit",le="0.001"} 1',
      'fw_action_duration_seconds_bucket{action="Deposit",le="0.01"} 3',
      'fw_action_duration_seconds_bucket{action="Deposit",le="+Inf"} 3',
      'fw_action_duration_seconds_sum{action="Deposit"} 0.5',
      'fw_action_duration_seconds_count{action="Deposit"} 3',
    ])
      expect(text).toContain(`${line}\n`);
});

test('Metrics show the requests in progress and the refused ones as they are, unknown shards together', async () => {
  const known = ShardIdentifier.of(1, 0);
  const pool = { open: 0, idle: 0, waiting: 0, circuit: 'closed' } as const;
  const written = { statements: 0, plans: 0, folded: 0, splits: 0 };
  const metrics = createMetrics({
    statistics: () => [
      {
        ...{
          shard: known,
          name: 'mexico-1',
          isServed: false,
          maximumConnections: 1,
          pool,
          queued: 0,
          written,
        },
        replicaSkips: undefined,
      },
    ],
  });
  let inFlight = 0;
  metrics.watchBusy({
    ...{ limits: { requests: 20, requestsPerShard: 10 }, openFeeds: 0 },
    get inFlight() {
      return inFlight;
    },
    get shards() {
      return [known.bits, -1, 77].map((shard) => ({ shard, inFlight, refused: 2 * inFlight }));
    },
  });
  await metrics.render();
  inFlight = 4;
  const text = await metrics.render();
  for (const line of [
    // Out of service, although its database answers.
    'fw_shard_circuit_open{shard="(1, 0)",name="mexico-1"} 1',
    'fw_http_busy_in_flight 4',
    'fw_http_busy_limit 20',
    'fw_http_busy_shard_in_flight{shard="(1, 0)"} 4',
    'fw_http_busy_shard_in_flight{shard="none"} 8',
    'fw_http_busy_shard_limit{shard="none"} 10',
    'fw_http_busy_refused_total{shard="(1, 0)"} 8',
    'fw_http_busy_refused_total{shard="none"} 16',
  ])
    expect(text).toContain(`${line}\n`);
});

test('Metrics show the ages of handled events, and which reads were spared', async () => {
  const ages = new Durations();
  for (const ms of [2, 3, 20_000]) ages.add(ms);
  const metrics = createMetrics({
    statistics: () => [],
    handledAges: () => new Map([['Mirror', ages]]),
    remembered: () => ({ hit: 5, miss: 2, disproven: 1 }),
  });
  const text = await metrics.render();
  for (const line of [
    'fw_event_delivery_seconds_bucket{handler="Mirror",le="0.0025"} 1',
    'fw_event_delivery_seconds_bucket{handler="Mirror",le="10"} 2',
    'fw_event_delivery_seconds_bucket{handler="Mirror",le="+Inf"} 3',
    'fw_remembered_models_total{outcome="hit"} 5',
    'fw_remembered_models_total{outcome="miss"} 2',
    'fw_remembered_models_total{outcome="disproven"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});

test('OpenMetrics has the traces of durations and the same names, and leaves the other format as it is', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const durations = new Durations();
  durations.add(2, traceId);
  durations.add(3);
  durations.add(40_000, traceId);
  const { counts, seconds, exemplars } = durations;
  const deposit = {
    action: 'Deposit',
    outcomes: new Map([['ok', 3]]),
    retries: new Map(),
    seconds,
    exemplars,
  };
  const metrics = createMetrics({
    statistics: () => [],
    actions: () => [{ ...deposit, durations: counts }],
  });
  metrics.observe({ method: 'GET', route: '/wallets/{id}', status: 200, ms: 7, traceId });
  metrics.observe({ method: 'GET', route: '/wallets/{id}', status: 404, ms: 8, traceId: undefined });
  const plain = await metrics.render();
  const open = await metrics.render('openmetrics');
  const exemplar = `# {trace_id="${traceId}"}`;
  const bucket = 'fw_action_duration_seconds_bucket{action="Deposit"';
  expect(open).toMatch(
    new RegExp(`^${escaped(`${bucket},le="0.0025"} 1 ${exemplar}`)} 0\\.002 \\d{10}(\\.\\d+)?$`, 'm'),
  );
  expect(open).toContain(`${bucket},le="0.005"} 2\n`);
  expect(open).toContain(`${bucket},le="+Inf"} 3 ${exemplar} 40 `);
  const request = 'fw_http_request_duration_seconds_bucket{method="GET",route="/wallets/{id}",le="0.01"} 2';
  expect(open).toContain(`${request} ${exemplar} 0.007 `);
  expect(open.endsWith('\n# EOF\n')).toBe(true);
  expect(open).toContain('# TYPE fw_http_requests counter');
  expect(plain).toContain(`${request}\n`);
  expect(plain).toContain('# TYPE fw_http_requests_total counter');
  expect(plain).not.toContain(traceId);
  for (const text of [plain, open, await metrics.render()]) {
    expect(text).toContain('fw_http_requests_total{method="GET",route="/wallets/{id}",status="404"} 1\n');
    expect(text).toContain('fw_actions_total{action="Deposit",outcome="ok"} 3\n');
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  }
});

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
