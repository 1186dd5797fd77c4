import { ShardIdentifier } from '../domain/shard-identifier.js';
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
    text: `insert into eventlog.known_shards (group_number, member_number)
      select * from unnest($1::smallint[], $2::smallint[]) on conflict do nothing`,
    values: numbersOf(served),
  });
  return (await leftOutShards(database, served)).map((shard) => `${leftOut(shard)} ${LEFT_OUT_ADVICE}`);
}

/** Must be called once a reload has found removed shards empty. */
export async function forgetShards(
  database: ShardDatabase,
  removed: readonly ShardIdentifier[],
): Promise<void> {
  await database.query({
    text: `delete from eventlog.known_shards where (group_number, member_number) in
      (select * from unnest($1::smallint[], $2::smallint[]))`,
    values: numbersOf(removed),
  });
}

function numbersOf(shards: readonly ShardIdentifier[]): readonly (readonly number[])[] {
  return [shards.map(({ group }) => group), shards.map(({ member }) => member)];
}

/** Shards that were served before, and are none of these. */
export async function leftOutShards(
  database: Pick<ShardDatabase, 'query'>,
  served: readonly ShardIdentifier[],
): Promise<readonly ShardIdentifier[]> {
  const text = 'select group_number, member_number from eventlog.known_shards order by 1, 2';
  const { rows } = await database.query({ text, values: [] });
  const known = rows.map(([group, member]) => ShardIdentifier.of(Number(group), Number(member)));
  return known.filter((shard) => !served.includes(shard));
}

export function leftOut(shard: ShardIdentifier): string {
  return `Shard ${shard} was served before, and the configuration does not list it: lists lack its rows.`;
}

export const LEFT_OUT_ADVICE =
  'Put it back. To remove an empty shard, reload a running server, or delete its row in eventlog.known_shards.';
