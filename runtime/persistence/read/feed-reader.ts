import type { JsonObject } from '../../domain/json.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { textArray } from '../codec/column-codec.js';

/** A followed model and the position of the subscriber that follows it. */
export interface FollowedModel {
  readonly modelName: string;
  readonly modelId: string;
  /** Version of the last event that the subscriber has received; 0 if none. */
  readonly after: number;
  /** Position of that event; 0 if it is not known, which costs a scan of the model's events. */
  readonly position: string;
}

/** The part of a feed that one read returns. */
export interface FeedPage {
  /** Maximum events per model. */
  readonly events: number;
  /** Bytes of payload per model, as JSON text, after which a feed is cut. At least one event is returned. */
  readonly bytes: number;
}

/** An event of a followed model. */
export interface FeedEvent {
  readonly id: string;
  readonly eventType: string;
  readonly eventVersion: number;
  readonly modelVersion: number;
  readonly payload: JsonObject;
  readonly createdDate: Date;
  readonly position: string;
}

/**
 * The next events of each model, in the order of the models and of their versions.
 *
 * Versions of one model are committed in their order, so a higher version is never visible before a lower one. This
 * read needs no horizon.
 *
 * @param page the events of one version are returned together, even beyond the page, because a reader continues after a
 *   whole version
 */
export async function readFeeds(
  database: ShardDatabase,
  models: readonly FollowedModel[],
  page: FeedPage,
): Promise<readonly (readonly FeedEvent[])[]> {
  const values = [
    textArray(models.map(({ modelName }) => modelName)),
    textArray(models.map(({ modelId }) => modelId)),
    `{${models.map(({ after }) => after).join(',')}}`,
    `{${models.map(({ position }) => position).join(',')}}`,
    page.events,
    page.bytes,
  ];
  const { rows } = await database.query({ text: FEEDS, name: 'fw_feeds', values });
  const feeds: FeedEvent[][] = models.map(() => []);
  const cut = new Set<number>();
  for (const [nr, nextVersion, ...columns] of rows) {
    const index = Number(nr) - 1;
    const event = eventOf(columns);
    feeds[index]?.push(event);
    // The last event of a feed decides.
    if (nextVersion !== null && Number(nextVersion) === event.modelVersion) cut.add(index);
    else cut.delete(index);
  }
  for (const index of cut) feeds[index] = await wholeVersions(database, models[index], feeds[index] ?? []);
  return feeds;
}

/** Drops the events of a version that the page has cut, or completes it if there is no other. */
async function wholeVersions(
  database: ShardDatabase,
  model: FollowedModel | undefined,
  events: FeedEvent[],
): Promise<FeedEvent[]> {
  const version = events.at(-1)?.modelVersion ?? 0;
  const whole = events.filter(({ modelVersion }) => modelVersion < version);
  if (whole.length > 0 || model === undefined) return whole;
  const values = [model.modelId, model.modelName, version, model.position];
  const { rows } = await database.query({ text: VERSION, name: 'fw_feed_version', values });
  return rows.map(eventOf);
}

function eventOf(columns: readonly unknown[]): FeedEvent {
  const [id, eventType, eventVersion, modelVersion, payload, createdDate, position] = columns;
  return {
    id: String(id),
    eventType: String(eventType),
    eventVersion: Number(eventVersion),
    modelVersion: Number(modelVersion),
    payload: payload as JsonObject,
    createdDate: createdDate as Date,
    position: String(position),
  };
}

const COLUMNS = 'e.id, e.event_type, e.event_version, e.model_version, e.payload, e.created_date, e.position';

/** False after a move to another server until the log is rebased: positions there may have begun again. */
const IS_OWN_LOG = `(SELECT system_identifier = (SELECT system_identifier::text FROM pg_control_system())
  FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1) IS NOT FALSE`;

/**
 * Positions have the order of versions, and the model's index is sorted by position. One event more than the page is
 * read, so that the version behind each event is known.
 */
const FEEDS = `SELECT m.nr, e.next_version, ${COLUMNS}
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
  AS m(model_name, model_id, after, position, nr)
CROSS JOIN LATERAL (
  SELECT e.*, lead(model_version) OVER w AS next_version, row_number() OVER w AS event_nr,
    sum(length(payload::text)) OVER w - length(payload::text) AS bytes_before
  FROM (SELECT * FROM eventlog.events AS e
    WHERE e.model_id = m.model_id AND e.model_name = m.model_name
      AND e.position > m.position AND e.model_version > m.after AND ${IS_OWN_LOG}
    ORDER BY e.position LIMIT $5 + 1) AS e
  WINDOW w AS (ORDER BY position)
) AS e
WHERE e.event_nr <= $5 AND e.bytes_before < $6
ORDER BY m.nr, e.position`;

const VERSION = `SELECT ${COLUMNS} FROM eventlog.events AS e
WHERE e.model_id = $1 AND e.model_name = $2 AND e.model_version = $3 AND e.position > $4 ORDER BY e.position`;
