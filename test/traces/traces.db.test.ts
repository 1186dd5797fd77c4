import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { context, type ProxyTracerProvider, trace } from '@opentelemetry/api';
import { AlwaysOffSampler, type NodeTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { Decimal } from 'fw-actions';
import type { RunningServer } from 'fw-actions/http';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import { GLOBAL_SHARD } from '../../examples/wallet/shards.js';
import { ShardedId } from '../../runtime/domain/id.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import type { Rows } from '../../runtime/sharding/shard-database.js';
import { testServer } from '../databases/vitest.js';
import { type Answer, JSON_TYPE, OWNER, WalletService } from '../http/wallet-service.js';
import { drawn, linkedTo, traceInMemory, traceOff } from './trace-tree.js';

const ALICE = { name: 'alice', claims: { role: 'operator' } } as const;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;

const UNKNOWN = '018f6d58-0000-7000-8000-000000000001';
const WALLET = { country: 'US', ownerId: OWNER, currency: 'MXN', initialBalance: '1' };

let service: WalletService;
let server: RunningServer;
let ofStart: readonly ReadableSpan[];

beforeAll(async () => {
  const { spans } = traceInMemory();
  service = await WalletService.start('pglite', testServer());
  ({ server } = service);
  ofStart = spans();
  traceOff();
});

afterEach(traceOff);

afterAll(() => service?.close());

async function post(path: string, body: object, traceparent?: string): Promise<Answer['body']> {
  const headers = { ...JSON_TYPE, ...(traceparent === undefined ? {} : { traceparent }) };
  return (await service.post(path, JSON.stringify(body), headers)).body;
}

function query(text: string, id: string): Promise<Rows> {
  return server.application.databases.database(GLOBAL_SHARD).query({ text, values: [id] });
}

async function transfer(traceparent: string): Promise<void> {
  const [sourceId, destinationId] = [await service.openWallet('100', 'US'), await service.openWallet('0')];
  const { id } = await post('/transfers', { sourceId, destinationId, amount: '30' }, traceparent);
  // A request that polls might share a statement with the saga.
  const text = 'SELECT state FROM transfers WHERE id = $1';
  await until(async () => {
    const { rows } = await query(text, String(id));
    return rows[0]?.[0] === 'COMPLETED';
  });
}

function named(spans: readonly ReadableSpan[], name: string): readonly ReadableSpan[] {
  return spans.filter((span) => span.name === name);
}

test('a transfer between shards is one trace, from the request to the last step of its saga', async () => {
  const { spans } = traceInMemory();
  await transfer(CALLER);
  // The saga's last event: its handler finds that there is no further step.
  const handled = () => spans().filter((span) => span.name === 'handle TransferSaga' && inTrace(span));
  await until(() => handled().length === 2);
  // Reads depend on the models that the process remembers.
  const isRead = (line: string): boolean => / read |^ +perform$/.test(line);
  expect(
    drawn(spans(), TRACE)
      .split('\n')
      .filter((line) => !isRead(line)),
  ).toEqual([
    'POST /transfers',
    '  execute TransferInitiateAction @(0, 0)',
    '    flush @(0, 0)',
    '    handle TransferSaga',
    '      step TransferSaga.INITIATED',
    '        execute TransferSaga.INITIATED @(1, 0)',
    '          flush @(1, 0)',
    '      execute Saga.move @(0, 0)',
    '        flush @(0, 0)',
    '        handle TransferSaga',
  ]);
  const request = spans().find((span) => span.name === 'POST /transfers' && inTrace(span));
  expect(request?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
  expect(request?.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/transfers',
    'http.response.status_code': 202,
  });
  const read = spans().find((span) => span.name === 'read eventlog.saga_steps' && inTrace(span));
  expect(read?.attributes).toMatchObject({ 'db.system.name': 'postgresql', 'fw.shard': '(1, 0)' });
});

test('durations in the metrics refer to traces that are sampled', async () => {
  const headers = {
    accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
  };
  const scrape = async (): Promise<string> => {
    const response = await fetch(`${server.url}/metrics`, { headers });
    expect(response.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
    return response.text();
  };
  const trace = randomBytes(16).toString('hex');
  const countIn = (text: string): number =>
    Number(
      /^fw_http_request_duration_seconds_count\{method="POST",route="\/wallets"\} (\d+)$/m.exec(text)?.[1] ??
        0,
    );
  const before = countIn(await scrape());
  traceInMemory(new AlwaysOffSampler());
  await post('/wallets', WALLET, `00-${trace}-00f067aa0ba902b7-01`);
  let counted = '';
  await until(async () => {
    counted = await scrape();
    return countIn(counted) > before;
  });
  expect(counted).not.toContain(trace);
  traceOff();
  traceInMemory();
  const sampled = randomBytes(16).toString('hex');
  await post('/wallets', WALLET, `00-${sampled}-00f067aa0ba902b7-01`);
  const shows = (text: string, metric: string, labels: string): boolean =>
    text.split('\n').some((line) => line.startsWith(`${metric}_bucket{${labels},`) && line.includes(sampled));
  await expect
    .poll(async () => {
      const text = await scrape();
      const request = shows(text, 'fw_http_request_duration_seconds', 'method="POST",route="/wallets"');
      return request && shows(text, 'fw_action_duration_seconds', 'action="WalletCreateAction"');
    })
    .toBe(true);
  expect(await (await fetch(`${server.url}/metrics`)).text()).not.toContain(sampled);
});

function inTrace(span: ReadableSpan): boolean {
  return span.spanContext().traceId === TRACE;
}

test('an SDK that samples nothing still continues the trace in events', async () => {
  const { spans } = traceInMemory(new AlwaysOffSampler());
  const { id } = await post('/wallets', WALLET, CALLER);
  expect(spans()).toEqual([]);
  const text = 'SELECT trace_context FROM eventlog.events WHERE model_id = $1';
  const { rows } = await query(text, String(id));
  expect(rows).toEqual([[expect.stringMatching(new RegExp(`^00-${TRACE}-(?!00f067)[0-9a-f]{16}-00$`))]]);
});

test('one statement that serves several actions has a trace of its own, linked to each of them', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => service.openWallet('0', 'US')));
  const { spans } = traceInMemory();
  const deposits = ids.map((id) =>
    server.application.executor.execute(ALICE, WalletDepositMoneyAction, {
      walletId: ShardedId.of(Wallet, id),
      amount: new Decimal(1),
    }),
  );
  await Promise.all(deposits);
  const executes = named(spans(), 'execute WalletDepositMoneyAction');
  const flushes = named(spans(), 'flush');
  expect(executes).toHaveLength(3);
  expect(flushes.map(({ attributes }) => attributes['fw.flush.plans'])).toEqual([3]);
  const [flush] = flushes;
  const own = flush?.spanContext();
  expect(executes.map((each) => each.spanContext().traceId)).not.toContain(own?.traceId);
  expect(new Set(flush && linkedTo(flush).map(({ spanId }) => spanId))).toEqual(
    new Set(executes.map((each) => each.spanContext().spanId)),
  );
  for (const each of executes) expect(linkedTo(each).map(({ spanId }) => spanId)).toContain(own?.spanId);
});

test('an action belongs to the span that an instrumentation of the server has made active', async () => {
  const { spans } = traceInMemory();
  const outer = trace.getTracer('test').startSpan('outer');
  const listener = server.fastify.server;
  const emit = listener.emit.bind(listener);
  listener.emit = (event: string, ...values: unknown[]) =>
    context.with(trace.setSpan(context.active(), outer), () => emit(event, ...values));
  try {
    await fetch(`${server.url}/wallets/${UNKNOWN}`, { headers: { traceparent: CALLER } });
  } finally {
    listener.emit = emit;
  }
  outer.end();
  const [execute] = named(spans(), 'execute WalletGetAction');
  expect(execute?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
  expect(execute?.attributes['error.type']).toBe('FW_MODEL_NOT_FOUND');
  expect(spans().filter(({ name }) => name.startsWith('GET '))).toEqual([]);
  // The duration of the request has the trace of the instrumentation, too.
  const { traceId } = outer.spanContext();
  const headers = { accept: 'application/openmetrics-text' };
  await expect
    .poll(async () => (await (await fetch(`${server.url}/metrics`, { headers })).text()).split('\n'))
    .toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^fw_http_request_duration_seconds_bucket{method="GET",route="/wallets/{walletId}",.*${traceId}`,
        ),
      ),
    );
});

test('each migration at the start of a process has a span with its shard', () => {
  const migrated = named(ofStart, 'migrate').map(({ attributes }) => attributes);
  expect(new Set(migrated.map((each) => each['fw.shard']))).toEqual(new Set(['(0, 0)', '(1, 0)']));
  expect(migrated.map((each) => each['fw.migration'])).toContain('0001_tables');
});

test('the commented lines of a new project send the spans to a collector over OTLP', async () => {
  const received: { name: string; traceId: string }[] = [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Export;
      for (const { scopeSpans } of resourceSpans)
        for (const { scope, spans } of scopeSpans) if (scope.name === 'fw-actions') received.push(...spans);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
  await runCommentedLines();
  try {
    await transfer(CALLER);
    const provider = trace.getTracerProvider() as ProxyTracerProvider;
    await (provider.getDelegate() as NodeTracerProvider).shutdown();
    const ours = received.filter(({ traceId }) => traceId === TRACE).map(({ name }) => name);
    expect(ours).toEqual(
      expect.arrayContaining(['POST /transfers', 'execute TransferInitiateAction', 'flush']),
    );
  } finally {
    vi.unstubAllEnvs();
    collector.close();
  }
});

/** Runs the lines of the scaffold's main file that switch traces on. */
async function runCommentedLines(): Promise<void> {
  const main = readFileSync(new URL('../../templates/init/src/main.ts.hbs', import.meta.url), 'utf8');
  const lines = [...main.matchAll(/^\/\/ ((?:import|new) .*)$/gm)].map(([, line]) => line);
  expect(lines).toHaveLength(3);
  const folder = mkdtempSync(fileURLToPath(new URL('../../node_modules/.fw-traces-', import.meta.url)));
  try {
    writeFileSync(join(folder, 'tracing.mjs'), lines.join('\n'));
    await import(pathToFileURL(join(folder, 'tracing.mjs')).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly { name: string; traceId: string }[];
    }[];
  }[];
}
