import type { Kysely } from 'kysely';
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
  /** The event's own fields as JSON. */
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

interface EventTables {
  readonly 'eventlog.dropped_partitions': {
    readonly table_name: string;
    readonly dropped_until: Date;
  };
  readonly 'eventlog.events': {
    readonly id: string;
    readonly action_id: string;
    readonly namespace: string;
    readonly model_id: string;
    readonly model_name: string;
    readonly event_type: string;
    readonly payload: JsonValue;
    readonly model_version: string;
    readonly position: string;
    readonly created_date: Date;
  };
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
    const db = this.#context.queries<EventTables>(shard);
    const [rows, dropped] = await Promise.all([
      historyQuery(db, id, after, limit + 1).execute(),
      db
        .selectFrom('eventlog.dropped_partitions')
        .select('dropped_until')
        .where('table_name', '=', 'events')
        .orderBy('dropped_until', 'desc')
        .limit(1)
        .execute(),
    ]);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last !== undefined ? last.position : undefined;
    return {
      items: page.map(toRecord),
      next: next === undefined ? null : encodeCursor(LIST, listed, next),
      completeFrom: dropped[0]?.dropped_until ?? null,
    };
  }
}

const LIST = 'eventlog.events';
/** The format of a position. */
const KEY_PATTERN = /^\d{1,18}$/;

function historyQuery(db: Kysely<EventTables>, id: Id<unknown>, after: string | undefined, limit: number) {
  const query = db
    .selectFrom('eventlog.events')
    .select(['id', 'action_id', 'namespace', 'model_id', 'model_name', 'event_type', 'payload'])
    .select(['model_version', 'position', 'created_date'])
    .where('model_id', '=', id.getValue())
    .where('model_name', '=', id.modelName)
    .orderBy('position')
    .limit(limit);
  return after === undefined ? query : query.where('position', '>', after);
}

type EventRow = EventTables['eventlog.events'];

function toRecord(row: EventRow): EventRecord {
  return {
    id: row.id,
    actionId: row.action_id,
    namespace: row.namespace,
    modelId: row.model_id,
    modelName: row.model_name,
    eventType: row.event_type,
    payload: row.payload,
    modelVersion: Number(row.model_version),
    createdDate: row.created_date,
  };
}
