import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Answers } from './answer.js';
import { renderDocs } from './docs-page.js';
import { isCurrent } from './entity-tags.js';
import type { Readiness } from './health.js';
import type { PathMethods } from './path-pattern.js';

/** What the pages of the server itself are made from. */
export interface PagesContext {
  readonly server: FastifyInstance;
  readonly answers: Answers;
  readonly readiness: Readiness;
  readonly openApi: object;
  readonly title: string;
  readonly paths: PathMethods;
}

/** A ready-made page. */
interface Page {
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves `/openapi.json`, `/docs` and `/health/...`, wherever the application has no route of its own. */
export function addPages(context: PagesContext): void {
  const { openApi, title } = context;
  addFixedPage(context, '/openapi.json', { type: 'application/json', body: Buffer.from(JSON.stringify(openApi)) });
  const { html, styleHash } = renderDocs(openApi, title);
  const policy =
    `default-src 'none'; style-src '${styleHash}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  addFixedPage(context, '/docs', {
    type: 'text/html; charset=utf-8',
    body: Buffer.from(html),
    headers: { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' },
  });
  addHealth(context);
}

function addFixedPage({ server, answers, paths }: PagesContext, path: string, page: Page): void {
  if (paths.has('GET', path)) return;
  paths.add('GET', path);
  const etag = `"${createHash('sha256').update(page.body).digest('base64url').slice(0, 22)}"`;
  server.get(path, ({ headers }, { raw }) => {
    const known = headers['if-none-match'];
    const shared = { ...page.headers, etag, 'cache-control': 'no-cache' };
    if (known !== undefined && isCurrent(known, etag)) answers.sendEmpty(raw, 304, shared);
    else answers.send(raw, 200, { ...shared, 'content-type': page.type }, page.body);
  });
}

function addHealth({ server, answers, readiness, paths }: PagesContext): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  if (!paths.has('GET', '/health/live')) {
    paths.add('GET', '/health/live');
    server.get('/health/live', (_request, { raw }) => answers.send(raw, 200, { ...headers }, '{"status":"live"}'));
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
