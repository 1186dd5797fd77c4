import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type CheckResult, fault, ok, warning } from './finding.js';
import { ask, failureOf } from './shard-checks.js';

const LAG_WARNING_MS = 30_000;

/** Checks whether the replica of a shard, if any, belongs to the shard, and how far it is behind. */
export async function checkReplica(
  databases: Pick<DatabaseRegistry, 'replica'>,
  shard: ShardIdentifier,
): Promise<readonly CheckResult[]> {
  const replica = databases.replica(shard);
  if (replica === undefined) return [];
  try {
    const [standby, group, member, lag] = await ask(
      replica,
      `select pg_is_in_recovery(), group_number, member_number, case
         when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
         else coalesce(extract(epoch from now() - pg_last_xact_replay_timestamp()) * 1000, 0) end::float8
       from eventlog.shard`,
    );
    if (group !== shard.group || member !== shard.member) {
      const found = `${replica.description} is shard (${String(group)}, ${String(member)})`;
      return [fault('replica', found, 'secondary-config names the replica of another member. Correct it.')];
    }
    if (standby !== true) {
      const found = `${replica.description} is not a standby, so reads go to the primary`;
      return [fault('replica', found, 'secondary-config must name a streaming replica.')];
    }
    const behind = `${replica.description}, ${Math.round(Number(lag))} ms behind`;
    if (Number(lag) <= LAG_WARNING_MS) return [ok('replica', behind)];
    return [warning('replica', behind, 'Check the load and the network of the replica.')];
  } catch (error) {
    const advice = 'Reads go to the primary until the replica answers.';
    return [warning('replica', failureOf(replica, error), advice)];
  }
}
