import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { idFloor } from './partitions.js';
import { statementsOn } from './short-transaction.js';

const PAGE = 1_000;

export interface PurgedSagas {
  readonly deletedSagas: number;
  readonly deletedSagaSteps: number;
  /** The shard that did not answer: the other records are kept. */
  readonly unreachable: readonly ShardIdentifier[];
}

/**
 * Deletes the records of this shard's sagas that ended long ago, and before them those of their steps, on all shards.
 * Running and parked sagas are kept at any age, as are the models of their states. The record of a step whose saga is
 * missing stays, because it proves that the saga was lost.
 *
 * @param limitMs time before which the sagas ended
 */
export async function purgeSagas(
  database: ShardDatabase,
  all: readonly ShardDatabase[],
  limitMs: number,
): Promise<PurgedSagas> {
  const query = statementsOn(database);
  const limit = new Date(limitMs).toISOString();
  let purged: PurgedSagas = { deletedSagas: 0, deletedSagaSteps: 0, unreachable: [] };
  for (let after: unknown = idFloor(0); ; ) {
    const { rows } = await query(SAGAS, [after, idFloor(limitMs), limit, PAGE]);
    if (rows.length === 0) return purged;
    const ids = JSON.stringify(rows.map(([id]) => id));
    for (const each of all) {
      try {
        const { rowCount } = await statementsOn(each)(DELETE_STEPS, [ids]);
        purged = { ...purged, deletedSagaSteps: purged.deletedSagaSteps + rowCount };
      } catch (error) {
        if (error instanceof DriverFailure) return { ...purged, unreachable: [each.shard] };
        throw error;
      }
    }
    const { rowCount } = await query(DELETE_SAGAS, [ids, limit]);
    purged = { ...purged, deletedSagas: purged.deletedSagas + rowCount };
    after = rows.at(-1)?.[0];
  }
}

const SAGAS = `SELECT id FROM eventlog.sagas
WHERE id > $1 AND id < $2 AND state = 'ENDED' AND updated_date < $3 ORDER BY id LIMIT $4`;

/**
 * Step ids share time and counter with their saga's id, so that a saga's steps are a range of the primary key. OFFSET
 * makes the planner search it for each saga instead of reading all steps.
 */
const DELETE_STEPS = `DELETE FROM eventlog.saga_steps WHERE id = ANY (ARRAY(SELECT s.id
  FROM jsonb_array_elements_text($1::jsonb) AS saga CROSS JOIN LATERAL (SELECT id FROM eventlog.saga_steps
    WHERE id >= (left(saga.value, 18) || '-8000-000000000000')::uuid
      AND id <= (left(saga.value, 18) || '-bfff-ffffffffffff')::uuid AND saga_id = saga.value::uuid OFFSET 0) AS s))`;

const DELETE_SAGAS = `DELETE FROM eventlog.sagas WHERE state = 'ENDED' AND updated_date < $2
AND id = ANY (ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1::jsonb)))`;
