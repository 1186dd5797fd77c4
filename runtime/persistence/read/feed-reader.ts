import type { JsonObject } from '../../domain/json.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { arrayLiteral, quoteElement } from '../codec/column-codec.js';

/** A followed model and the position of the subscriber that follows it. */
export interface FollowedModel {
  readonly modelName: string;
  readonly modelId: string;
  /** Version of the last event that the subscriber has received; 0 if none. */
  readonly after: number;
}

/** An event of a followed model. */
export interface FeedEvent {
  readonly id: string;
  readonly eventType: string;
  readonly eventVersion: number;
  readonly modelVersion: number;
  readonly payload: JsonObject;
  readonly createdDate: Date;
}

/**
 * The next events of each model, in the order of the models and of their versions.
 *
 * Versions of one model are committed in their order, so a higher version is never visible before a lower one. This
 * read needs no horizon.
 *
 * @param limit maximum events per model. The events of one version are returned together, even beyond the limit,
 *   because a reader continues after a whole version
 */
export async function readFeeds(
  database: ShardDatabase,
  models: readonly FollowedModel[],
  limit: number,
): Promise<readonly (readonly FeedEvent[])[]> {
  const values = [
    arrayLiteral(models.map(({ modelName }) => quoteElement(modelName))),
    arrayLiteral(models.map(({ modelId }) => quoteElement(modelId))),
    `{${models.map(({ after }) => after).join(',')}}`,
    limit,
  ];
  const { rows } = await database.query({ text: FEEDS, name: 'fw_feeds', values });
  const feeds: FeedEvent[][] = models.map(() => []);
  for (const [nr, id, eventType, eventVersion, modelVersion, payload, createdDate] of rows) {
    feeds[Number(nr) - 1]?.push({
      id: String(id),
      eventType: String(eventType),
      eventVersion: Number(eventVersion),
      modelVersion: Number(modelVersion),
      payload: payload as JsonObject,
      createdDate: createdDate as Date,
    });
  }
  return feeds;
}

/** Positions have the order of versions, and the model's index is sorted by position. */
const FEEDS = `SELECT m.nr, e.id, e.event_type, e.event_version, e.model_version, e.payload, e.created_date
FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS m(model_name, model_id, after, nr)
CROSS JOIN LATERAL (
  WITH page AS MATERIALIZED (SELECT * FROM eventlog.events AS e
    WHERE e.model_id = m.model_id AND e.model_name = m.model_name AND e.model_version > m.after
    ORDER BY e.position LIMIT $4),
  last AS (SELECT max(model_version) AS version, max(position) AS position FROM page HAVING count(*) = $4)
  SELECT * FROM page UNION ALL
  SELECT e.* FROM last JOIN eventlog.events AS e ON e.model_id = m.model_id AND e.model_name = m.model_name
    AND e.model_version = last.version AND e.position > last.position
) AS e
ORDER BY m.nr, e.position`;
