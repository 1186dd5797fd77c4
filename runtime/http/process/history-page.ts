import type { Application } from '../../application.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import { ValidationError } from '../../errors.js';
import { html } from '../docs/html.js';
import { readInstant } from '../input/instant-text.js';
import { NO_SHARD, shardInPath } from '../path-shard.js';
import { type OperatorPage, tableOf } from './operator-page.js';

type HistoryEntry = Awaited<ReturnType<Application['events']['history']>>[number];

/** A request for the life of a model. */
export interface HistoryRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly at?: string | readonly string[] };
}

/** The events of a model. */
export interface ModelLife {
  readonly id: string;
  readonly at: Date | undefined;
  readonly events: readonly HistoryEntry[];
}

export async function readHistory(
  { databases, events }: Application,
  {
    params,
    query,
  }: { readonly params: HistoryRequest['Params']; readonly query: HistoryRequest['Querystring'] },
): Promise<ModelLife> {
  const id = parseUuid(params.id);
  const at = timeOf(query.at);
  const bits = shardInPath(params);
  const shard = bits === NO_SHARD ? databases.defaultShard : ShardIdentifier.fromBits(bits);
  return { id, at, events: await events.history(id, { shard, ...(at !== undefined && { at }) }) };
}

function timeOf(text: string | readonly string[] | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const time = readInstant(String(text).replace(/^\d{4}-\d\d-\d\d$/, '$&T00:00:00Z'));
  if (time instanceof Date) return time;
  throw new ValidationError('at is not a time such as 2027-01-01T12:00:00Z', { field: 'at' });
}

export function historyPage({ id, at, events }: ModelLife): OperatorPage {
  const caption =
    'Events, oldest first. Versions without an event are not listed; retention may have deleted earlier events.';
  const content = html`<p><a href="../../operate">All shards</a></p>
<form><label>Until <input name="at" value="${at?.toISOString()}" placeholder="2027-01-01T12:00:00Z"></label> <button>Show</button></form>
${tableOf(caption, events, {
  Version: ({ modelVersion }) => modelVersion,
  // The runs of a saga have the id of its model.
  Model: ({ modelName }) => modelName,
  Date: ({ date }) => date,
  Event: ({ eventType }) => eventType,
  Change: ({ payload }) => html`<pre>${JSON.stringify(payload, null, 2)}</pre>`,
  Action: ({ actionName, actionId }) => actionName ?? actionId,
  Principal: ({ principal }) => principal,
})}`;
  return { title: `${events[0]?.modelName ?? 'Model'} ${id}`, content };
}
