import type { JsonObject } from '../domain/json.js';
import { ValidationError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import * as column from './log/columns.js';

/** An event in the life of a model. */
export interface HistoryEntry {
  readonly modelName: string;
  readonly modelVersion: number;
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly eventType: string;
  readonly eventId: string;
  /** Version of the event's class when the event was stored. */
  readonly eventVersion: number;
  /** What has changed, as the event says it. */
  readonly payload: JsonObject;
  /** The row of the action may have been deleted by retention: then name and principal are undefined. */
  readonly actionId: string;
  readonly actionName: string | undefined;
  readonly principal: string | undefined;
}

/** Which part of a model's history is read. */
export interface HistoryOptions {
  /** Only what had happened by then. Default: until now. */
  readonly at?: Date;
  /** Maximum number of events, the last ones. Default 100. */
  readonly limit?: number;
}

/**
 * The last events of a model, oldest first. Events that retention has deleted are missing.
 *
 * @throws ValidationError for an invalid date
 */
export async function readHistory(
  database: ShardDatabase,
  modelId: string,
  { at, limit = 100 }: HistoryOptions,
): Promise<readonly HistoryEntry[]> {
  if (at !== undefined && Number.isNaN(at.getTime())) throw new ValidationError('The date is invalid');
  // Events name models in lower case.
  const values = [modelId.toLowerCase(), at?.toISOString() ?? null, limit];
  const { rows } = await database.query({ text: HISTORY, values });
  return rows.map((row) => column.read(ENTRY, row)).reverse();
}

const ENTRY: column.Columns<HistoryEntry> = {
  modelName: column.text('e.model_name'),
  modelVersion: column.numeric('e.model_version'),
  date: { sql: 'e.created_date', read: (value) => (value as Date).toISOString() },
  eventType: column.text('e.event_type'),
  eventId: column.text('e.id'),
  eventVersion: column.numeric('e.event_version'),
  payload: column.raw('e.payload'),
  actionId: column.text('e.action_id'),
  actionName: column.optional(column.text('a.name')),
  principal: column.optional(column.text('a.principal')),
};

const HISTORY = `SELECT ${column.list(ENTRY)} FROM (SELECT * FROM eventlog.events WHERE model_id = $1
    AND ($2::timestamptz IS NULL OR created_date <= $2) ORDER BY position DESC LIMIT $3) AS e
  LEFT JOIN eventlog.actions AS a ON a.id = e.action_id ORDER BY e.position DESC`;
