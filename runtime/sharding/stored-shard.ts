import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { CallOptions, Rows, Statement } from './shard-database.js';

/**
 * The shard that a database stores: `shard` is the database itself, `default_shard` the default one of its cluster.
 * Undefined in a database that stores none, or that is not migrated.
 */
export async function storedShard(
  database: { query(statement: Statement, options?: CallOptions): Promise<Rows> },
  table: 'shard' | 'default_shard',
  options?: CallOptions,
): Promise<ShardIdentifier | undefined> {
  const exists = { text: `select to_regclass('eventlog.${table}') is not null`, values: [] };
  if ((await database.query(exists, options)).rows[0]?.[0] !== true) return undefined;
  const text = `select group_number, member_number from eventlog.${table}`;
  const [group, member] = (await database.query({ text, values: [] }, options)).rows[0] ?? [];
  return group === undefined ? undefined : ShardIdentifier.of(Number(group), Number(member));
}
