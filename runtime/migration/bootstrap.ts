import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardIdentityError } from '../errors.js';
import type { ShardSession } from '../sharding/shard-database.js';
import { storedShard } from '../sharding/stored-shard.js';

/** The schema of all tables of this package. */
export const SCHEMA = 'eventlog';

/**
 * Stores the shard identity in an empty database, and creates the table of applied migrations; or checks the stored one.
 *
 * @throws ShardIdentityError if the database belongs to another shard
 */
export async function establishIdentity(
  session: Pick<ShardSession, 'query' | 'script'>,
  shard: ShardIdentifier,
  where: string,
): Promise<void> {
  await session.script(bootstrapSql(shard));
  const found = await storedShard(session, 'shard');
  if (found?.bits === shard.bits) return;
  throw new ShardIdentityError(
    `${where} is shard ${found}, but the configuration says that it is ${shard}. ` +
      'Are two URLs swapped? Nothing was changed.',
  );
}

/**
 * Idempotent, and without effect on a database that is already a shard. `is_own_id` is created only together with the
 * identity, so the function always matches the row.
 */
function bootstrapSql(shard: ShardIdentifier): string {
  return `
create schema if not exists ${SCHEMA};
create table if not exists ${SCHEMA}.shard (
  only_row boolean primary key default true check (only_row),
  group_number smallint not null,
  member_number smallint not null,
  created_date timestamptz not null default now()
);
create table if not exists ${SCHEMA}.migration_checksums (
  migration_set text not null,
  name text not null,
  checksum text not null,
  tables text,
  primary key (migration_set, name)
);
do $bootstrap$
begin
  insert into ${SCHEMA}.shard (group_number, member_number) values (${shard.group}, ${shard.member})
    on conflict do nothing;
  if found then
    execute $ddl$${isOwnIdSql(shard)}$ddl$;
  end if;
end
$bootstrap$;
`;
}

/**
 * Checks three bytes of the id: version 7 in the upper half of byte 6; the variant `10` and six group bits in byte 8;
 * two group bits and six member bits in byte 9.
 *
 * In PL/pgSQL, because a session caches its compiled form: an SQL function would be expanded for every statement, which
 * makes a single insert six times as expensive.
 */
function isOwnIdSql(shard: ShardIdentifier): string {
  const byte8 = 0x80 | (shard.bits >> 8);
  const byte9 = shard.bits & 0xff;
  return `
create function ${SCHEMA}.is_own_id(id uuid) returns boolean
  language plpgsql immutable strict parallel safe as $body$
begin
  return get_byte(uuid_send(id), 6) >> 4 = 7
     and get_byte(uuid_send(id), 8) = ${byte8}
     and get_byte(uuid_send(id), 9) = ${byte9};
end
$body$`;
}
