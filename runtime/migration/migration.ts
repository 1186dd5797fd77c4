import { createHash } from 'node:crypto';
import { FwError, MigrationError, messageOf, ValidationError } from '../errors.js';
import { readMigrationHeader, withoutOrder } from '../migration-header.js';

/** A step of a schema, the same on every shard. */
export interface Migration {
  /** Sorts after all earlier migrations, such as `20260301090000_add_nickname`. */
  readonly name: string;
  /**
   * SQL, possibly several statements. It runs in its own transaction, which it must not end, unless it begins with the
   * comment `-- fw-gen: no transaction`. With the comment `-- fw-gen: tables notes, tags` it may be applied after later
   * migrations that touch other tables.
   */
  readonly up: string;
  /** Path of the file with this text, for messages. */
  readonly file?: string;
}

/**
 * Whether the migration runs in a transaction: unless its text has the comment `-- fw-gen: no transaction` above its
 * first statement.
 *
 * @throws ValidationError for a comment `-- fw-gen:` that declares nothing known
 */
export function runsInTransaction({ name, up }: Migration): boolean {
  const { inTransaction, unknown } = readMigrationHeader(up);
  if (unknown === undefined) return inTransaction;
  throw new ValidationError(
    `Migration ${name} has the unknown directive "fw-gen: ${unknown}"; known are "no transaction", "tables <names>", ` +
      '"after <migration>", "first" and "replaces <checksum>"',
  );
}

/** Digest that detects a changed migration. Ignores line ends, outer white space and what `withoutOrder` leaves out. */
export function checksumOf(migration: Migration): string {
  const text = withoutOrder(migration.up.replace(/\r\n?/g, '\n')).trim();
  return createHash('sha256').update(text).digest('hex');
}

/** Does work on a shard. @throws MigrationError that begins with `failed`, instead of an error of a driver */
export async function orMigrationError<T>(failed: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof FwError) throw cause;
    throw new MigrationError(`${failed}: ${messageOf(cause)}`, { cause });
  }
}
