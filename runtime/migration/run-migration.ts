import { MigrationError, messageOf } from '../errors.js';
import type { ShardSession } from '../sharding/shard-database.js';
import type { Migration } from './migration.js';
import { SESSION_SETTINGS } from './session-lock.js';
import { type SqlStatement, splitStatements } from './sql-statements.js';

/** A session that migrates a database. */
export interface MigratingSession extends ShardSession {
  /** SQL that the session prepends to every script. */
  readonly prologue: string;
}

/**
 * Runs a text inside of the current transaction, statement by statement, so that a failure names its line.
 *
 * @throws MigrationError if a statement fails, or if the text ends the transaction
 */
export async function runInTransaction(session: MigratingSession, migration: Migration): Promise<void> {
  const before = await currentTransaction(session);
  await runStatements(session, migration);
  if ((await currentTransaction(session)) !== before) {
    throw new MigrationError('its text ends its own transaction; remove COMMIT and ROLLBACK');
  }
}

/**
 * Runs a text statement by statement, each in its own transaction. Its session settings are discarded afterwards.
 *
 * @throws MigrationError if a statement fails (earlier ones stay applied), or if the text leaves a transaction open
 */
export async function runAlone(session: MigratingSession, migration: Migration): Promise<void> {
  await runStatements(session, migration);
  const last = await currentTransaction(session);
  // Outside of a transaction, each statement is its own transaction.
  if ((await currentTransaction(session)) === last)
    throw new MigrationError('its text leaves a transaction open; add a COMMIT');
  await session.script(SESSION_SETTINGS);
}

async function runStatements(session: MigratingSession, migration: Migration): Promise<void> {
  for (const statement of splitStatements(migration.up)) {
    try {
      await session.script(statement.text);
    } catch (error) {
      const reason = messageOf(error);
      const offset = statement.offset + offsetWithin(statement, error, session.prologue);
      throw new MigrationError(`${reason} (${placeOf(migration, offset)})`, { cause: error });
    }
  }
}

/** The offset in the statement at which the server reported the error; 0 if unknown. */
function offsetWithin({ text }: SqlStatement, error: unknown, prologue: string): number {
  const cause = error instanceof Error ? error.cause : undefined;
  const position = cause instanceof Error && 'position' in cause ? Number(cause.position) : 0;
  // The server counts characters of the complete text, from 1.
  const before = [...`${prologue}${text}`].slice(0, Math.max(0, position - 1)).join('');
  return Math.max(0, before.length - prologue.length);
}

function placeOf({ up, origin }: Migration, offset: number): string {
  const line = up.slice(0, offset).split('\n').length;
  return origin === undefined ? `line ${line} of its text` : `${origin.file}:${origin.line + line - 1}`;
}

async function currentTransaction(session: ShardSession): Promise<unknown> {
  const { rows } = await session.query({ text: 'select pg_current_xact_id()::text', values: [] });
  return rows[0]?.[0];
}
