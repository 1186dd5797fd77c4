import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fresh } from '../concurrency/fresh.js';
import type { Metrics } from '../observability/prometheus.js';
import { documentText } from '../openapi/document-text.js';
import type { Answers } from './answer.js';
import { DOCS_HEADERS, docsPage } from './docs/page.js';
import { fixedPage, type SendPage } from './fixed-page.js';
import { type HealthCheck, readinessOf, withoutDetails } from './health.js';

/** Dependencies of the server's own pages. */
export interface PagesContext {
  readonly server: FastifyInstance;
  readonly answers: Answers;
  readonly health: HealthCheck;
  /** Undefined: `/openapi.json` and `/docs` are not served. */
  readonly openApi?: object | undefined;
  readonly title?: string | undefined;
  readonly metrics?: Metrics | undefined;
  /** Of the server's own URL. */
  readonly scheme: 'http' | 'https';
}

type Page = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

const LIVE = Buffer.from('{"status":"live"}');
/** Media type that Prometheus prefers. */
const OPEN_METRICS = 'application/openmetrics-text';
const UNCACHED = { 'cache-control': 'no-store' };
const JSON_TYPE = { 'content-type': 'application/json' };
const HEALTH = { ...JSON_TYPE, ...UNCACHED };
/** Lifetime of a check of the shards, and of collected metrics, in milliseconds. */
const FRESH_MS = 1_000;
/** Maximum number of hosts with cached examples. It is bounded because a caller can send any host. */
const MOST_HOSTS = 16;
/** A host and port that are safe to insert into a page. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?$/;

/** Serves `/openapi.json`, `/docs`, `/metrics` and `/health/...`, unless the application has its own route. */
export function addPages(context: PagesContext): void {
  const { server, metrics, openApi } = context;
  const add = (url: string, page: Page): void => {
    if (!server.hasRoute({ method: 'GET', url })) server.get(url, { config: { isOwn: true } }, page);
  };
  add('/health/live', (_request, reply) => reply.headers(HEALTH).send(LIVE));
  add('/health/ready', readinessPage(context));
  if (metrics !== undefined) {
    const plain = fresh(() => metrics.render('prometheus'), FRESH_MS);
    const open = fresh(() => metrics.render('openmetrics'), FRESH_MS);
    add('/metrics', async ({ headers: { accept } }, reply) => {
      const isOpen = accept?.includes(OPEN_METRICS) === true;
      const type = metrics.contentTypes[isOpen ? 'openmetrics' : 'prometheus'];
      const text = await (isOpen ? open() : plain());
      return reply.headers({ 'content-type': type, vary: 'accept', ...UNCACHED }).send(Buffer.from(text));
    });
  }
  if (openApi === undefined) return;
  add('/openapi.json', fixedPage(documentText(openApi), JSON_TYPE));
  add('/docs', docs(context, openApi));
}

function docs({ title, scheme }: PagesContext, openApi: object): Page {
  const render = docsPage(openApi, title);
  const pages = new Map<string, SendPage>();
  return (request, reply) => {
    const { host: named = '' } = request.headers;
    const host = HOST.test(named) && (pages.has(named) || pages.size < MOST_HOSTS) ? named : 'localhost';
    const send = pages.get(host) ?? fixedPage(render(`${scheme}://${host}`), DOCS_HEADERS);
    pages.set(host, send);
    return send(request, reply);
  };
}

function readinessPage({ health, answers }: PagesContext): Page {
  const readiness = fresh(async () => readinessOf(await health()), FRESH_MS);
  return async (request, reply) => {
    const report = await readiness();
    // Credentials are read only if there is a detail to show. Invalid ones are those of a stranger.
    const isOperator =
      report.shards.some(({ status }) => status === 'down') &&
      (await health.isOperator?.(request.raw).catch(() => false)) === true;
    const shown = isOperator ? report : withoutDetails(report);
    const known = answers.closing ? { ...shown, status: 'closing' as const } : shown;
    const status = known.status === 'ready' || known.status === 'degraded' ? 200 : 503;
    return reply
      .code(status)
      .headers(HEALTH)
      .send(Buffer.from(JSON.stringify(known)));
  };
}
