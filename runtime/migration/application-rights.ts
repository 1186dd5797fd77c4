import type { ShardDatabase } from '../sharding/shard-database.js';

/** A privilege on a table, as PostgreSQL names it. */
export type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

export interface TableRights {
  readonly tables: readonly string[];
  readonly privileges: readonly Privilege[];
}

/** The rights of an application's role on this package's tables. docs/events.md grants the same. */
export const APPLICATION_RIGHTS: readonly TableRights[] = [
  {
    tables: ['events', 'actions', 'saga_steps', 'delivery_epochs', 'default_shard'],
    privileges: ['SELECT', 'INSERT'],
  },
  { tables: ['shard', 'dropped_partitions', 'migration_checksums', 'api_keys'], privileges: ['SELECT'] },
  { tables: ['known_shards'], privileges: ['SELECT', 'INSERT', 'DELETE'] },
  { tables: ['sagas', 'timelines'], privileges: ['SELECT', 'INSERT', 'UPDATE'] },
  {
    tables: [
      'idempotency_keys',
      'journal',
      'locks',
      'consumers',
      'delivery_processes',
      'dead_letters',
      'schedules',
      'recurring_actions',
      'processes',
      'request_limits',
    ],
    privileges: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  },
];

const MODEL_PRIVILEGES: readonly Privilege[] = ['SELECT', 'INSERT', 'UPDATE'];

/**
 * Required rights that the connection's user does not have.
 *
 * @param tables the models' tables
 * @param onlyExisting whether tables that do not exist are left out
 * @returns `update on eventlog.consumers`, sorted
 */
export async function missingRights(
  database: Pick<ShardDatabase, 'query'>,
  tables: readonly string[],
  onlyExisting: boolean = false,
): Promise<readonly string[]> {
  const schemas = await database.query({
    text: `select has_schema_privilege(oid, 'USAGE') from pg_namespace where nspname = 'eventlog'`,
    values: [],
  });
  if (schemas.rows[0]?.[0] === false) return ['usage on schema eventlog'];
  const wanted = [
    ...APPLICATION_RIGHTS.flatMap(({ tables: names, privileges }) =>
      names.flatMap((name) => privileges.map((privilege) => [`eventlog.${name}`, privilege] as const)),
    ),
    ...tables
      .filter((table) => !table.startsWith('eventlog.'))
      .flatMap((table) => MODEL_PRIVILEGES.map((privilege) => [quoteTable(table), privilege] as const)),
  ];
  const { rows } = await database.query({
    text: `select name, privilege from jsonb_to_recordset($1::jsonb) as wanted (name text, privilege text)
      where coalesce(not has_table_privilege(to_regclass(name), privilege), $2)`,
    values: [JSON.stringify(wanted.map(([name, privilege]) => ({ name, privilege }))), !onlyExisting],
  });
  return [
    ...new Set(rows.map(([name, privilege]) => `${String(privilege).toLowerCase()} on ${String(name)}`)),
  ].sort();
}

/** The name of a table in a statement. */
export function quoteTable(table: string): string {
  return `"${table.replaceAll('"', '""')}"`;
}
