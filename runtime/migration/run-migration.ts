import { MigrationError, messageOf } from '../errors.js';
import { printTables, readMigrationHeader } from '../migration-header.js';
import { SCHEMA } from './bootstrap.js';
import type { MigratingSession } from './migrating-session.js';
import { checksumOf, type Migration } from './migration.js';
import { type MigrationSet, readApplied } from './migration-order.js';
import { SESSION_SETTINGS } from './session-lock.js';
import { type SqlStatement, splitStatements } from './sql-statements.js';

/**
 * Runs and records a migration in one transaction, statement by statement, so that a failure names its line. Its session
 * settings are discarded afterwards. After a failure the transaction is open: the session must be destroyed.
 *
 * @returns false if another process has applied it since it was found to be missing, which a pooler permits
 * @throws MigrationError if a statement fails, or if the text ends the transaction
 */
export async function runInTransaction(
  session: MigratingSession,
  set: MigrationSet,
  migration: Migration,
): Promise<boolean> {
  // A script, so that it begins with the prologue of this session's transactions.
  await session.script('BEGIN');
  const isMissing = !(await readApplied(session, set)).some(({ name }) => name === migration.name);
  if (isMissing) {
    const before = await currentTransaction(session);
    await runStatements(session, migration);
    if ((await currentTransaction(session)) !== before)
      throw new MigrationError('its text ends its own transaction; remove COMMIT and ROLLBACK');
    await record(session, set, migration);
  }
  const { command } = await session.query({ text: 'COMMIT', values: [] });
  if (command !== 'COMMIT')
    throw new MigrationError(`it was rolled back (the server answered COMMIT with ${command})`);
  // Through a pooler the next statement may reach another session.
  if (session.prologue === '') await session.script(SESSION_SETTINGS);
  return isMissing;
}

/**
 * Runs a migration statement by statement, each in its own transaction, and records it. Its session settings are
 * discarded afterwards.
 *
 * @throws MigrationError if a statement fails (earlier ones stay applied), or if the text leaves a transaction open
 */
export async function runAlone(
  session: MigratingSession,
  set: MigrationSet,
  migration: Migration,
): Promise<true> {
  await runStatements(session, migration);
  const last = await currentTransaction(session);
  // Outside of a transaction, each statement is its own transaction.
  if ((await currentTransaction(session)) === last)
    throw new MigrationError('its text leaves a transaction open; add a COMMIT');
  await session.script(SESSION_SETTINGS);
  await record(session, set, migration);
  return true;
}

async function record(session: MigratingSession, set: MigrationSet, migration: Migration): Promise<void> {
  const { tables } = readMigrationHeader(migration.up);
  const declared = tables === undefined ? null : printTables(tables);
  await session.query({
    text: `insert into ${SCHEMA}.migration_checksums (migration_set, name, checksum, tables) values ($1, $2, $3, $4)`,
    values: [set, migration.name, checksumOf(migration), declared],
  });
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

function placeOf({ up, file }: Migration, offset: number): string {
  const line = up.slice(0, offset).split('\n').length;
  return file === undefined ? `line ${line} of its text` : `${file}:${line}`;
}

async function currentTransaction(session: MigratingSession): Promise<unknown> {
  const { rows } = await session.query({ text: 'select pg_current_xact_id()::text', values: [] });
  return rows[0]?.[0];
}
