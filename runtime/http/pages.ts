import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../observability/prometheus.js';
import type { Answers } from './answer.js';
import { docsPage } from './docs/page.js';
import { isCurrent } from './entity-tags.js';
import type { Readiness } from './health.js';
import type { PathMethods } from './path-pattern.js';

/** What the pages of the server itself are made from. */
export interface PagesContext {
  readonly server: FastifyInstance;
  readonly answers: Answers;
  readonly readiness: Readiness;
  readonly openApi: object;
  readonly title: string | undefined;
  readonly metrics: Metrics | undefined;
  readonly paths: PathMethods;
}

/** A host and port that may stand in a page. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?$/;

/** Serves `/openapi.json`, `/docs`, `/metrics` and `/health/...`, wherever the application has no route of its own. */
export function addPages(context: PagesContext): void {
  addDocument(context);
  addDocs(context);
  addHealth(context);
  addMetrics(context);
}

function addMetrics({ server, answers, paths, metrics }: PagesContext): void {
  if (metrics === undefined || paths.has('GET', '/metrics')) return;
  paths.add('GET', '/metrics');
  server.get('/metrics', (request, { raw }) => {
    const headers = { 'content-type': metrics.contentType, 'cache-control': 'no-store' };
    metrics.render().then(
      (text) => answers.send(raw, 200, headers, text),
      (error: unknown) => answers.fail(request.raw, raw, error),
    );
  });
}

function addDocument({ server, answers, paths, openApi }: PagesContext): void {
  if (paths.has('GET', '/openapi.json')) return;
  paths.add('GET', '/openapi.json');
  const body = Buffer.from(JSON.stringify(openApi));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  server.get('/openapi.json', ({ headers }, { raw }) => {
    const known = headers['if-none-match'];
    const shared = { etag, 'cache-control': 'no-cache' };
    if (known !== undefined && isCurrent(known, etag)) answers.sendEmpty(raw, 304, shared);
    else answers.send(raw, 200, { ...shared, 'content-type': 'application/json' }, body);
  });
}

function addDocs({ server, answers, paths, openApi, title }: PagesContext): void {
  if (paths.has('GET', '/docs')) return;
  paths.add('GET', '/docs');
  const page = docsPage(openApi, title);
  server.get('/docs', ({ headers }, { raw }) => {
    const host = HOST.test(headers.host ?? '') ? headers.host : 'localhost';
    const policies = {
      'content-security-policy': page.contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    };
    answers.send(
      raw,
      200,
      { ...policies, 'content-type': 'text/html; charset=utf-8' },
      page.render(`http://${host}`),
    );
  });
}

function addHealth({ server, answers, readiness, paths }: PagesContext): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  if (!paths.has('GET', '/health/live')) {
    paths.add('GET', '/health/live');
    server.get('/health/live', (_request, { raw }) =>
      answers.send(raw, 200, { ...headers }, '{"status":"live"}'),
    );
  }
  if (!paths.has('GET', '/health/ready')) {
    paths.add('GET', '/health/ready');
    server.get('/health/ready', (request, { raw }) => {
      readiness.report().then(
        (report) => {
          const known = answers.closing ? { ...report, status: 'closing' as const } : report;
          const status = known.status === 'ready' || known.status === 'degraded' ? 200 : 503;
          answers.send(raw, status, { ...headers }, JSON.stringify(known));
        },
        (error: unknown) => answers.fail(request.raw, raw, error),
      );
    });
  }
}
