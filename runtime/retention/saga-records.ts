import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { idFloor } from './partitions.js';
import { type Purged, References } from './references.js';
import { statementsOn } from './short-transaction.js';

const PAGE = 1_000;

/**
 * Deletes this shard's step records of sagas, on any shard, that ended long ago. The record of a step whose saga is
 * missing is kept, because it proves that the saga was lost.
 *
 * @param limitMs time before which the sagas ended
 */
export async function purgeSagaSteps(
  database: ShardDatabase,
  all: readonly ShardDatabase[],
  limitMs: number,
): Promise<Purged> {
  const query = statementsOn(database);
  const references = new References(all);
  let deleted = 0;
  let after = idFloor(0);
  for (;;) {
    const { rows } = await query(STEPS, [after, idFloor(limitMs), PAGE]);
    const steps = rows.map(([id, saga]) => ({ id: String(id), saga: String(saga) }));
    const ended = await references.ask(
      steps.map(({ saga }) => saga),
      async (home, sagas) => {
        const values = [JSON.stringify(sagas), new Date(limitMs).toISOString()];
        const found = await statementsOn(home)(ENDED, values);
        return found.rows.map(([id]) => String(id));
      },
    );
    const ids = steps.filter(({ saga }) => ended.has(saga)).map(({ id }) => id);
    if (ids.length > 0) deleted += (await query(DELETE_STEPS, [JSON.stringify(ids)])).rowCount;
    const last = steps.at(-1);
    if (last === undefined || steps.length < PAGE) return { deleted, unreachable: references.unreachable };
    after = last.id;
  }
}

/**
 * Deletes the records of this shard's sagas that ended long ago and of which no shard has step records any more.
 * Running and parked sagas are kept at any age, as are the models of their states.
 *
 * @param all every shard: if one does not answer, nothing is deleted
 */
export async function purgeSagas(
  database: ShardDatabase,
  all: readonly ShardDatabase[],
  limitMs: number,
): Promise<Purged> {
  const query = statementsOn(database);
  let deleted = 0;
  let after = idFloor(0);
  for (;;) {
    const limit = new Date(limitMs).toISOString();
    const { rows } = await query(SAGAS, [after, idFloor(limitMs), limit, PAGE]);
    const ids = rows.map(([id]) => String(id));
    const last = ids.at(-1);
    if (last === undefined) return { deleted, unreachable: new Set() };
    const known = new Set<string>();
    for (const each of all) {
      try {
        for (const id of await sagasWithSteps(each, ids)) known.add(id);
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error;
        return { deleted, unreachable: new Set([each.shard]) };
      }
    }
    const gone = ids.filter((id) => !known.has(id));
    if (gone.length > 0) deleted += (await query(DELETE_SAGAS, [JSON.stringify(gone), limit])).rowCount;
    if (ids.length < PAGE) return { deleted, unreachable: new Set() };
    after = last;
  }
}

/** Step ids share time and counter with their saga's id, so that a saga's steps are a range of the primary key. */
async function sagasWithSteps(database: ShardDatabase, ids: readonly string[]): Promise<readonly string[]> {
  const ranges = ids.map((id) => [
    id,
    `${id.slice(0, 18)}-8000-000000000000`,
    `${id.slice(0, 18)}-bfff-ffffffffffff`,
  ]);
  const { rows } = await statementsOn(database)(WITH_STEPS, [JSON.stringify(ranges)]);
  return rows.map(([id]) => String(id));
}

const STEPS = `SELECT id, saga_id FROM eventlog.saga_steps WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3`;

const ENDED = `SELECT s.id FROM jsonb_array_elements_text($1::jsonb) AS i
JOIN eventlog.sagas AS s ON s.id = i.value::uuid WHERE s.state = 'ENDED' AND s.updated_date < $2`;

const DELETE_STEPS = `DELETE FROM eventlog.saga_steps WHERE id = ANY (ARRAY(
  SELECT value::uuid FROM jsonb_array_elements_text($1::jsonb)))`;

const SAGAS = `SELECT id FROM eventlog.sagas
WHERE id > $1 AND id < $2 AND state = 'ENDED' AND updated_date < $3 ORDER BY id LIMIT $4`;

const WITH_STEPS = `SELECT r.value ->> 0 FROM jsonb_array_elements($1::jsonb) AS r
WHERE EXISTS (SELECT FROM eventlog.saga_steps AS s
  WHERE s.id >= (r.value ->> 1)::uuid AND s.id <= (r.value ->> 2)::uuid AND s.saga_id = (r.value ->> 0)::uuid)`;

const DELETE_SAGAS = `DELETE FROM eventlog.sagas WHERE state = 'ENDED' AND updated_date < $2
AND id = ANY (ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1::jsonb)))`;
