import { afterEach, beforeEach, expect, it } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ShardLag } from '../events/lag.js';
import { createMetrics } from '../observability/prometheus.js';
import type { ShardStatistics } from '../observability/shard-statistics.js';
import type { HttpServer } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

let wallets: WalletApplication;
let server: HttpServer;
let base: string;
let shards: ShardStatistics[];
let asked: number;
let looks: number;
let lag: () => Promise<readonly ShardLag[]>;

const mexico = ShardIdentifier.of(1, 0);
const statistics: ShardStatistics = {
  shard: mexico,
  name: 'mexico-1',
  isServed: true,
  maximumConnections: 20,
  pool: { open: 3, idle: 1, waiting: 2, circuit: 'open' },
  queued: 5,
  written: { statements: 7, plans: 70, folded: 11, splits: 1 },
  replicaSkips: { behind: 1, slow: 2, unreachable: 0, cancelled: 0, promoted: 0 },
};
const consumer = { handler: 'Mailer', holder: undefined, waitingFor: undefined, behind: 4, behindMs: 2_500 };
const idle = { ...consumer, behind: 0, behindMs: 0, deadLetters: 0, parkedModels: 0 };
const shardLag: ShardLag = {
  shard: mexico,
  horizon: { transactionId: '1', ageMs: 1_500, holders: [] },
  failovers: [],
  sagas: [{ saga: 'Payment', running: 3, parked: 1, oldestMs: 90_000 }],
  dueActions: 6,
  failedActions: 1,
  actionsWaitFor: 'Remind',
  consumers: [
    { ...consumer, name: 'Mailer', kind: 'live', deadLetters: 2, parkedModels: 1 },
    { ...idle, name: 'Audit', handler: 'Audit', kind: 'live', waitingFor: 'a saga is in step HOTEL' },
    { ...idle, name: 'Mailer#1a2b3c4d', kind: 'replay', deadLetters: 5, parkedModels: 3 },
  ],
};

beforeEach(async () => {
  wallets = new WalletApplication();
  shards = [statistics];
  asked = 0;
  looks = 0;
  lag = async () => [shardLag];
  const metrics = createMetrics({
    statistics: () => {
      asked += 1;
      return shards;
    },
    lag: () => {
      looks += 1;
      return lag();
    },
    journal: () => [{ shard: mexico, open: 2, flagged: 1, finished: 3, failed: 4 }],
  });
  server = wallets.server({ metrics });
  base = (await server.listen({ host: '127.0.0.1', port: 0 })).url;
});
afterEach(() => server.close(0));

/** Lines of `/metrics` that begin like this, sorted. */
async function lines(start: string): Promise<readonly string[]> {
  const response = await fetch(`${base}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(start))
    .sort();
}

const post = (path: string, body: string) =>
  fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

it('counts requests by declared route and by status, refused ones included', async () => {
  const created = await post(
    '/wallets',
    '{"country": "MX", "ownerId": "6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10", "currency": "EUR"}',
  );
  const { id } = (await created.json()) as { id: string };
  for (let count = 0; count < 3; count += 1) await post(`/wallets/${id}/deposit`, '{"amount": 1}');
  await post(`/wallets/${id}/deposit`, '{"amount": -1}');
  await post(`/wallets/${id}/deposit`, `{"amount": 1, "recipient": "${'x'.repeat(70_000)}"}`);
  await fetch(`${base}/nowhere`);
  expect(await lines('fw_http_requests_total')).toEqual([
    'fw_http_requests_total{method="GET",route="unmatched",status="404"} 1',
    'fw_http_requests_total{method="POST",route="/wallets",status="201"} 1',
    'fw_http_requests_total{method="POST",route="/wallets/{walletId}/deposit",status="200"} 3',
    'fw_http_requests_total{method="POST",route="/wallets/{walletId}/deposit",status="400"} 1',
    'fw_http_requests_total{method="POST",route="/wallets/{walletId}/deposit",status="413"} 1',
  ]);
  const deposits =
    'fw_http_request_duration_seconds_count{method="POST",route="/wallets/{walletId}/deposit"}';
  expect(await lines(deposits)).toEqual([`${deposits} 5`]);
  const slowest = (await lines('fw_http_request_duration_seconds_bucket')).filter((line) =>
    line.includes('{method="POST",route="/wallets",le="+Inf"}'),
  );
  expect(slowest).toEqual([expect.stringMatching(/ 1$/)]);
});

it('counts open and finished journal entries', async () => {
  expect(await lines('fw_journal')).toEqual([
    'fw_journal_entries{shard="(1, 0)",state="flagged"} 1',
    'fw_journal_entries{shard="(1, 0)",state="open"} 2',
    'fw_journal_failed_attempts_total{shard="(1, 0)"} 4',
    'fw_journal_finished_total{shard="(1, 0)"} 3',
  ]);
});

it('reports the connections, the circuit breaker and the writing of each shard', async () => {
  const label = '{shard="(1, 0)",name="mexico-1"}';
  expect(await lines('fw_shard_')).toEqual([
    `fw_shard_circuit_open${label} 1`,
    `fw_shard_connection_waiters${label} 2`,
    `fw_shard_connections_idle${label} 1`,
    `fw_shard_connections_maximum${label} 20`,
    `fw_shard_connections_open${label} 3`,
    `fw_shard_plans_folded_total${label} 11`,
    `fw_shard_plans_queued${label} 5`,
    `fw_shard_plans_total${label} 70`,
    `fw_shard_statement_splits_total${label} 1`,
    `fw_shard_write_statements_total${label} 7`,
  ]);
  expect(await lines('fw_replica_skipped_total')).toEqual(
    Object.entries(statistics.replicaSkips ?? {})
      .map(([reason, count]) => `fw_replica_skipped_total{shard="(1, 0)",reason="${reason}"} ${count}`)
      .sort(),
  );
  // Independent of the number of metrics: there may be a thousand shards.
  expect(asked).toBe(1);
  shards = [];
  // Collected values are reused for a second.
  await expect.poll(() => lines('fw_shard_'), { timeout: 10_000 }).toEqual([]);
});

it('reports what waits on a shard, without replays, and queries the databases once for many scrapes', async () => {
  const label = '{shard="(1, 0)",handler="Mailer"}';
  const audit = label.replace('Mailer', 'Audit');
  expect(await lines('fw_event_')).toEqual([
    `fw_event_dead_letters${audit} 0`,
    `fw_event_dead_letters${label} 7`,
    `fw_event_handler_behind_events${audit} 0`,
    `fw_event_handler_behind_events${label} 4`,
    `fw_event_handler_behind_seconds${audit} 0`,
    `fw_event_handler_behind_seconds${label} 2.5`,
    `fw_event_handler_waiting${audit} 1`,
    `fw_event_handler_waiting${label} 0`,
    'fw_event_log_horizon_age_seconds{shard="(1, 0)"} 1.5',
    `fw_event_parked_models${audit} 0`,
    `fw_event_parked_models${label} 4`,
  ]);
  expect(await lines('fw_scheduled_')).toEqual([
    'fw_scheduled_actions_due{shard="(1, 0)"} 6',
    'fw_scheduled_actions_failed{shard="(1, 0)"} 1',
    'fw_scheduled_actions_waiting{shard="(1, 0)"} 1',
  ]);
  expect(await lines('fw_saga')).toEqual([
    'fw_saga_oldest_seconds{shard="(1, 0)",saga="Payment"} 90',
    'fw_sagas_parked{shard="(1, 0)",saga="Payment"} 1',
    'fw_sagas_running{shard="(1, 0)",saga="Payment"} 3',
  ]);
  expect(looks).toBe(1);
});

it('answers without the metrics of databases that do not answer', async () => {
  lag = () => new Promise(() => {});
  expect(await lines('fw_event_')).toEqual([]);
  expect(await lines('fw_shard_plans_queued')).toHaveLength(1);
});

it('reports the process as well', async () => {
  expect(await lines('nodejs_eventloop_lag_p99_seconds')).toHaveLength(1);
  expect(await lines('process_resident_memory_bytes')).toHaveLength(1);
});
