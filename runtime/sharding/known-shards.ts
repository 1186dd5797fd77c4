import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ShardDatabase } from './shard-database.js';

/**
 * Stores on the default shard which shards are served. A start cannot ask a shard that its file leaves out whether it is
 * empty, as a reload does; but it can tell that the shard was there.
 *
 * @returns a warning for each shard that was served before and is not now
 */
export async function rememberShards(
  database: ShardDatabase,
  served: readonly ShardIdentifier[],
): Promise<readonly string[]> {
  await database.query({
    text: `insert into eventlog.known_shards (bits, shard) select * from unnest($1::int[], $2::text[])
      on conflict do nothing`,
    values: [served.map(({ bits }) => bits), served.map(String)],
  });
  return (await leftOutShards(database, served)).map((shard) => `${leftOut(shard)} ${LEFT_OUT_ADVICE}`);
}

/** Must be called once a reload has found removed shards empty. */
export async function forgetShards(
  database: ShardDatabase,
  removed: readonly ShardIdentifier[],
): Promise<void> {
  const values = [removed.map(({ bits }) => bits)];
  await database.query({ text: 'delete from eventlog.known_shards where bits = any($1::int[])', values });
}

/** Shards that were served before, such as `(0, 1)`, and are none of these. */
export async function leftOutShards(
  database: Pick<ShardDatabase, 'query'>,
  served: readonly ShardIdentifier[],
): Promise<readonly string[]> {
  const { rows } = await database.query({
    text: 'select shard from eventlog.known_shards where bits <> all($1::int[]) order by bits',
    values: [served.map(({ bits }) => bits)],
  });
  return rows.map(([shard]) => String(shard));
}

export function leftOut(shard: string): string {
  return `Shard ${shard} was served before, and the configuration does not list it: lists lack its rows.`;
}

export const LEFT_OUT_ADVICE =
  'Put it back. To remove an empty shard, reload a running server, or delete its row in eventlog.known_shards.';
