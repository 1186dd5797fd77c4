import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { time } from '../concurrency/time.js';
import type { Metrics } from '../observability/prometheus.js';
import { documentText } from '../openapi/document-text.js';
import type { Answers } from './answer.js';
import { docsPage } from './docs/page.js';
import { FixedPage } from './fixed-page.js';
import type { Readiness, ReadinessReport } from './health.js';
import type { PathMethods } from './path-pattern.js';

/** Dependencies of the server's own pages. */
export interface PagesContext {
  readonly server: FastifyInstance;
  readonly answers: Answers;
  readonly readiness: Readiness;
  /** Undefined: `/openapi.json` and `/docs` are not served. */
  readonly openApi: object | undefined;
  readonly title: string | undefined;
  readonly metrics: Metrics | undefined;
  readonly paths: PathMethods;
  /** Of the server's own URL. */
  readonly scheme: 'http' | 'https';
}

const LIVE = Buffer.from('{"status":"live"}');

/** A host and port that are safe to insert into a page. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?$/;

/** Serves `/openapi.json`, `/docs`, `/metrics` and `/health/...`, unless the application has its own route. */
export function addPages(context: PagesContext): void {
  const { openApi } = context;
  if (openApi !== undefined) {
    addDocument(context, openApi);
    addDocs(context, openApi);
  }
  addHealth(context);
  addMetrics(context);
}

/** Minimum interval between collections of metrics, in milliseconds. */
const METRICS_FRESH_MS = 1_000;
/** Maximum number of hosts with cached examples. It is bounded because a caller can send any host. */
const MOST_HOSTS = 16;

function addMetrics({ server, answers, paths, metrics }: PagesContext): void {
  if (metrics === undefined || paths.has('GET', '/metrics')) return;
  let latest: Promise<Buffer> | undefined;
  let freshUntil = 0;
  const render = (): Promise<Buffer> => {
    const now = time.nowMs();
    if (latest === undefined || now > freshUntil) {
      freshUntil = now + METRICS_FRESH_MS;
      latest = metrics.render().then((text) => Buffer.from(text));
    }
    return latest;
  };
  server.get('/metrics', (request, reply) => {
    const headers = { 'content-type': metrics.contentType, 'cache-control': 'no-store' };
    render().then(
      (body) => answers.send(reply, 200, headers, body),
      (error: unknown) => answers.fail(request, reply, error),
    );
  });
}

function addDocument({ server, answers, paths }: PagesContext, openApi: object): void {
  if (paths.has('GET', '/openapi.json')) return;
  const page = new FixedPage(documentText(openApi), { 'content-type': 'application/json' });
  server.get('/openapi.json', (request, reply) => void page.send(answers, request, reply));
}

function addDocs({ server, answers, paths, title, scheme }: PagesContext, openApi: object): void {
  if (paths.has('GET', '/docs')) return;
  const docs = docsPage(openApi, title);
  const headers = {
    'content-security-policy': docs.contentSecurityPolicy,
    'content-type': 'text/html; charset=utf-8',
  };
  const pages = new Map<string, FixedPage>();
  const pageFor = (host: string): FixedPage => {
    const page = pages.get(host) ?? new FixedPage(docs.render(`${scheme}://${host}`), headers);
    pages.set(host, page);
    return page;
  };
  server.get('/docs', (request, reply) => {
    const { host = '' } = request.headers;
    const isShown = HOST.test(host) && (pages.has(host) || pages.size < MOST_HOSTS);
    pageFor(isShown ? host : 'localhost').send(answers, request, reply);
  });
}

/** Reads credentials only if there is a reason to show. */
async function readyFor(readiness: Readiness, request: IncomingMessage): Promise<ReadinessReport> {
  const report = await readiness.report();
  const isDown = report.shards.some(({ status }) => status === 'down');
  return isDown && (await readiness.admits(request)) ? readiness.report(true) : report;
}

function addHealth({ server, answers, readiness, paths }: PagesContext): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  if (!paths.has('GET', '/health/live')) {
    server.get('/health/live', (_request, reply) => answers.send(reply, 200, headers, LIVE));
  }
  if (!paths.has('GET', '/health/ready')) {
    server.get('/health/ready', (request, reply) => {
      readyFor(readiness, request.raw).then(
        (report) => {
          const known = answers.closing ? { ...report, status: 'closing' as const } : report;
          const status = known.status === 'ready' || known.status === 'degraded' ? 200 : 503;
          answers.send(reply, status, headers, JSON.stringify(known));
        },
        (error: unknown) => answers.fail(request, reply, error),
      );
    });
  }
}
