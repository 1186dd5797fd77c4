import { createHash } from 'node:crypto';
import { ValidationError } from '../errors.js';

/** A step of a schema, the same on every shard. */
export interface Migration {
  /** Sorts after all earlier migrations, such as `0002_add_nickname`. */
  readonly name: string;
  /**
   * SQL, possibly several statements. It runs in its own transaction, which it must not end, unless it begins with the
   * comment `-- fw-gen: no transaction`.
   */
  readonly up: string;
  /** Source position of the text, for messages. */
  readonly origin?: MigrationOrigin;
}

/** The source position of a migration's text. */
export interface MigrationOrigin {
  /** Path for display. */
  readonly file: string;
  /** First line of the text in the file, from 1. */
  readonly line: number;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;
/** Comments and blank lines before the first statement. */
const HEAD = /^(?:[^\S\n]*(?:--[^\n]*)?(?:\n|$))*/;
const DIRECTIVE = /^[^\S\n]*--[^\S\n]*fw-gen:([^\n]*)$/gm;

/**
 * Creates a migration.
 *
 * @param up SQL, possibly several statements; see `Migration.up`
 * @throws ValidationError for a name with characters other than letters, digits, `_`, `-` and `.`, for empty SQL, and
 *   for an unknown comment `-- fw-gen:`
 */
export function defineMigration(name: string, up: string, origin?: MigrationOrigin): Migration {
  if (!NAME.test(name)) {
    throw new ValidationError(
      `A migration's name consists of letters, digits, _, - and ., got ${JSON.stringify(name)}`,
    );
  }
  if (up.trim() === '') throw new ValidationError(`Migration ${name} is empty`);
  const migration = Object.freeze({ name, up, ...(origin === undefined ? {} : { origin }) });
  runsInTransaction(migration);
  return migration;
}

/**
 * Whether the migration runs in a transaction: unless its text has the comment `-- fw-gen: no transaction` above its
 * first statement.
 *
 * @throws ValidationError for any other comment `-- fw-gen:`
 */
export function runsInTransaction({ name, up }: Migration): boolean {
  const head = HEAD.exec(up.replaceAll('\r', ''))?.[0] ?? '';
  const directives = [...head.matchAll(DIRECTIVE)].map(([, text = '']) => text.trim());
  const unknown = directives.find((text) => text !== 'no transaction');
  if (unknown === undefined) return directives.length === 0;
  throw new ValidationError(
    `Migration ${name} has the unknown directive "fw-gen: ${unknown}"; the only one is "fw-gen: no transaction"`,
  );
}

/** Digest that detects a changed migration. Ignores line ends and outer white space. */
export function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.up.replace(/\r\n?/g, '\n').trim()).digest('hex');
}
