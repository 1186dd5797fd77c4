import { type RawBuilder, sql } from 'kysely';
import { currentPerformScope } from '../../action/perform-scope.js';
import type { Id } from '../../domain/id.js';
import { ShardedId } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import type { Uuid } from '../../domain/uuid.js';
import { decodeCursor, encodeCursor, type Page, type PageRequest, pageLimit } from './page.js';
import type { RepositoryContext } from './repository.js';

/** One row of the outbox, `eventlog.events`. */
export interface EventRecord {
  readonly id: Uuid;
  readonly actionId: Uuid;
  readonly namespace: string;
  readonly modelId: string;
  readonly modelName: string;
  readonly eventType: string;
  /** Version of the event's class when the event was stored. */
  readonly eventVersion: number;
  /** The event's own fields as JSON, as they were stored: upcasters are not applied. */
  readonly payload: JsonValue;
  /** Version of the model that the change produced. */
  readonly modelVersion: number;
  readonly createdDate: Date;
}

/** A page of a model's history. */
export interface EventPage extends Page<EventRecord> {
  /** The instant from which the shard's history is complete; retention has removed earlier events. Null: complete. */
  readonly completeFrom: Date | null;
}

/** A row of the query of a page. */
interface EventRow extends Omit<EventRecord, 'modelVersion'> {
  readonly modelVersion: string;
  readonly position: string;
}

/** Reads the events of one model from the outbox of its shard. */
export class EventHistory {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * The committed events of one model, oldest first. Positions have the order of versions, because a position is drawn
   * while the model's row is locked.
   */
  async of(id: Id<unknown>, request: PageRequest = {}): Promise<EventPage> {
    const limit = pageLimit(request);
    const listed = { id: id.getValue() };
    const after = decodeCursor(request.cursor, LIST, listed, KEY_PATTERN);
    const shard = id instanceof ShardedId ? id.resolveShardIdentifier() : this.#context.defaultShard;
    const scope = currentPerformScope();
    if (id instanceof ShardedId) scope?.reach?.require(shard);
    scope?.access?.follow({ modelName: id.modelName, id: id.getValue() });
    const db = this.#context.queries<unknown>(shard);
    const [{ rows }, dropped] = await Promise.all([
      historyQuery(id, after, limit + 1).execute(db),
      DROPPED.execute(db),
    ]);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(({ position: _, modelVersion, ...row }) => ({
        ...row,
        modelVersion: Number(modelVersion),
      })),
      next: last === undefined ? null : encodeCursor(LIST, listed, last.position),
      completeFrom: dropped.rows[0]?.completeFrom ?? null,
    };
  }
}

const LIST = 'eventlog.events';
/** The format of a position. */
const KEY_PATTERN = /^\d{1,18}$/;

const DROPPED = sql<{ readonly completeFrom: Date | null }>`
  SELECT max(dropped_until) AS "completeFrom" FROM eventlog.dropped_partitions WHERE table_name = 'events'`;

/** @param after position of the last event of the previous page; all positions are positive */
function historyQuery(id: Id<unknown>, after: string | undefined, limit: number): RawBuilder<EventRow> {
  return sql<EventRow>`
    SELECT id, action_id AS "actionId", namespace, model_id AS "modelId", model_name AS "modelName",
      event_type AS "eventType", event_version AS "eventVersion", payload, model_version AS "modelVersion", created_date AS "createdDate", position
    FROM eventlog.events
    WHERE model_id = ${id.getValue()} AND model_name = ${id.modelName} AND position > ${after ?? '0'}
    ORDER BY position LIMIT ${limit}`;
}
