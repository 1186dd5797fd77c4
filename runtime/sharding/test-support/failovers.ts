import { ShardedId } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { FailoverRegister } from '../failover-register.js';
import type { ShardDatabase } from '../shard-database.js';

/** Makes a database look as if its server had begun the current timeline a moment ago. */
export async function pretendFailover(database: ShardDatabase): Promise<FailoverRegister> {
  const register = new FailoverRegister(database);
  await register.notice();
  await database.query({ text: "UPDATE eventlog.timelines SET timeline = '00000000'", values: [] });
  await register.notice();
  return register;
}

class Saga {}
class Step {}

/** An id of a saga or an event of a shard. */
export function idOn(shard: ShardIdentifier): string {
  return ShardedId.generate(Saga, shard).getValue();
}

const STEP = `INSERT INTO eventlog.saga_steps
  (id, state, version, saga_id, step_number, step, created_date, updated_date)
VALUES ($1, $2, 1, $3, 1, 'PAYING', now() - $4::interval, now())`;

/** Inserts the record of a saga's step on this shard. */
export async function insertStep(
  database: ShardDatabase,
  saga: string,
  { state = 'DONE', age = '0 seconds' }: { readonly state?: 'DONE' | 'VOID'; readonly age?: string } = {},
): Promise<void> {
  const id = ShardedId.generate(Step, database.shard).getValue();
  await database.query({ text: STEP, values: [id, state, saga, age] });
}

const SAGA = `INSERT INTO eventlog.sagas (id, state, version, saga, step, step_number, created_date, updated_date)
VALUES ($1, $2, 1, 'PaymentSaga', 'PAID', 2, now() - interval '1 hour', now())`;

/** Inserts a saga on this shard, one hour old. */
export async function insertSaga(
  database: ShardDatabase,
  saga: string,
  state: 'PARKED' | 'ENDED' = 'ENDED',
): Promise<void> {
  await database.query({ text: SAGA, values: [saga, state] });
}
