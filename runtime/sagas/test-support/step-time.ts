import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from '../../application.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { until } from '../../events/test-support/ledger.js';

type Parts = Pick<Application, 'databases' | 'sagas'>;

/** Sets the deadline of the saga's current step to the past, and ends its time limit. */
export async function endTime({ databases }: Parts, shard: ShardIdentifier, saga: string): Promise<void> {
  const text = `WITH due AS (UPDATE eventlog.schedules SET next_date = clock_timestamp()
      WHERE state = 'pending' AND params ->> 'saga' = $1::text)
    UPDATE eventlog.sagas SET deadline = clock_timestamp(), timeout_ms = 0 WHERE id = $1::uuid`;
  await databases.database(shard).query({ text, values: [saga] });
}

/** Ends the time of the saga's step until it leaves the step: an attempt that began before may renew the time. */
export async function leaveByTime(parts: Parts, shard: ShardIdentifier, saga: string): Promise<void> {
  const { step } = await parts.sagas.show(saga);
  await until(async () => {
    await endTime(parts, shard, saga);
    await sleep(250);
    return (await parts.sagas.show(saga)).step !== step;
  });
}
