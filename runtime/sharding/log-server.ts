import { EventEpochError } from '../errors.js';
import type { ShardDatabase } from './shard-database.js';

/*
 * Transaction ids order the log, and they belong to one server: after a dump is restored on another server they are
 * meaningless. Each epoch of the log therefore stores the identifier of its server. On another server delivery stops
 * until `rebase` opens a new epoch.
 */

/** Checks that the log belongs to this server. Opens the first epoch on a new shard. @throws EventEpochError */
export async function requireOwnLog(database: ShardDatabase): Promise<void> {
  const { rows } = await database.query({ text: CURRENT, values: [] });
  const [row] = rows;
  if (row === undefined) await database.query({ text: OPEN_FIRST, values: [] });
  else requireServer(database, row[0], row[1]);
}

/** Why delivery has stopped: the log belongs to another server. Undefined: it does not. */
export async function findForeignLog(database: ShardDatabase): Promise<EventEpochError | undefined> {
  const { rows } = await database.query({ text: CURRENT, values: [] });
  const [known = null, found] = rows[0] ?? [];
  return foreignLog(database, known, found);
}

/** @param known system identifier of the epoch @param found that of the server @throws EventEpochError */
export function requireServer(database: Pick<ShardDatabase, 'shard'>, known: unknown, found: unknown): void {
  const error = foreignLog(database, known, found);
  if (error !== undefined) throw error;
}

function foreignLog(
  { shard }: Pick<ShardDatabase, 'shard'>,
  known: unknown,
  found: unknown,
): EventEpochError | undefined {
  if (known === null || known === found) return undefined;
  return new EventEpochError(shard.toString(), String(known), String(found));
}

const CURRENT =
  'SELECT system_identifier, (SELECT system_identifier::text FROM pg_control_system()) ' +
  'FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1';

const OPEN_FIRST =
  'INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position) ' +
  'SELECT 1, system_identifier::text, 0 FROM pg_control_system() ON CONFLICT DO NOTHING';
