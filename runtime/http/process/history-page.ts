import { createHash } from 'node:crypto';
import type { Application } from '../../application.js';
import type { AccessConfig } from '../../config/types.js';
import type { Principal } from '../../domain/principal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import { ForbiddenError, ValidationError } from '../../errors.js';
import { type Html, html } from '../docs/html.js';
import { NO_SHARD, shardInPath } from '../path-shard.js';
import type { CustomRoutes } from '../server-plugin.js';
import type { ServerTools } from './serve-options.js';

type HistoryEntry = Awaited<ReturnType<Application['events']['history']>>[number];
type Operators = NonNullable<AccessConfig['operators']>;

interface HistoryRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly at?: string | readonly string[] };
}

const STYLE = `:root{color-scheme:light dark}
body{margin:2rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
caption,th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0}
th,td{border-top:1px solid}
pre{font:.85rem ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;margin:0}`;

const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** Whether a caller has the claim that `fw.access.operators` names. */
export function isOperator({ claims }: Principal, { claim, value }: Operators): boolean {
  return claims[claim] === value;
}

/**
 * Serves the life of a model to operators: its last 100 events at `/operate/history/<id>`, or with `?at=<time>` those
 * until then. Browsers get a page, other clients JSON.
 */
export function historyPage(operators: Operators): CustomRoutes<ServerTools> {
  return (fastify, { application, authenticate }) => {
    fastify.get<HistoryRequest>('/operate/history/:id', async (request, reply) => {
      if (!isOperator(await authenticate(request as Parameters<typeof authenticate>[0]), operators))
        throw new ForbiddenError('Only operators may read histories');
      const id = parseUuid(request.params.id);
      const at = timeOf(request.query.at);
      const events = await readEvents(application, { id, shard: shardInPath(request.params), at });
      reply.headers({ 'cache-control': 'no-store', vary: 'accept' });
      if (request.headers.accept?.includes('text/html') !== true) return { events };
      return reply.headers(PAGE).send(pageOf(id, at, events).markup);
    });
  };
}

function timeOf(text: string | readonly string[] | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const time = new Date(String(text));
  if (!Number.isNaN(time.getTime())) return time;
  throw new ValidationError('at is not a time such as 2027-01-01T12:00:00Z', { field: 'at' });
}

function readEvents(
  { databases, events }: Application,
  { id, shard: bits, at }: { readonly id: string; readonly shard: number; readonly at: Date | undefined },
): Promise<readonly HistoryEntry[]> {
  const shard = bits === NO_SHARD ? databases.defaultShard : ShardIdentifier.fromBits(bits);
  return events.history(id, { shard, ...(at !== undefined && { at }) });
}

function pageOf(id: string, at: Date | undefined, events: readonly HistoryEntry[]): Html {
  const title = `${events[0]?.modelName ?? 'Model'} ${id}`;
  const until = at?.toISOString();
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<form><label>Until <input name="at" value="${until}" placeholder="2027-01-01T12:00:00Z"></label> <button>Show</button></form>
${events.length === 0 ? html`<p>There are no events.</p>` : tableOf(events)}
</main>
</body>
</html>
`;
}

function tableOf(events: readonly HistoryEntry[]): Html {
  return html`<table>
<caption>Events, oldest first. Retention may have deleted earlier ones.</caption>
<thead><tr>${['Version', 'Date', 'Event', 'Change', 'Action', 'Principal'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${events.map(
  ({ modelVersion, date, eventType, payload, actionName, actionId, principal }) =>
    html`<tr><th scope="row">${modelVersion}</th><td>${date}</td><td>${eventType}</td><td><pre>${JSON.stringify(payload, null, 2)}</pre></td><td>${actionName ?? actionId}</td><td>${principal}</td></tr>
`,
)}</tbody>
</table>`;
}
