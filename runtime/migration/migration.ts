import { createHash } from 'node:crypto';
import { ValidationError } from '../errors.js';

/** A step of a schema, the same on every shard. */
export interface Migration {
  /** Sorts after every earlier migration, such as `0002_add_nickname`. */
  readonly name: string;
  /**
   * SQL, several statements if need be. It runs in a transaction of its own and must not end it, unless it begins with
   * the comment `-- fw-gen: no transaction`.
   */
  readonly up: string;
  /** Where the text stands, for messages. */
  readonly origin?: MigrationOrigin;
}

/** Place of a migration's text. */
export interface MigrationOrigin {
  /** Path as people know it. */
  readonly file: string;
  /** Line of the file that the text begins on, from 1. */
  readonly line: number;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;
/** Lines of comments and blank lines before the first statement. */
const HEAD = /^(?:[^\S\n]*(?:--[^\n]*)?(?:\n|$))*/;
const DIRECTIVE = /^[^\S\n]*--[^\S\n]*fw-gen:([^\n]*)$/gm;

/**
 * @throws ValidationError for a name that is not letters, digits, `_`, `-` and `.`, for empty SQL, and for a comment
 *   `-- fw-gen:` that means nothing
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
 * Whether all of a migration happens or nothing, which is what it does unless its text says `-- fw-gen: no transaction`
 * above its first statement.
 *
 * @throws ValidationError for a comment `-- fw-gen:` that says something else
 */
export function runsInTransaction({ name, up }: Migration): boolean {
  const head = HEAD.exec(up.replaceAll('\r', ''))?.[0] ?? '';
  const directives = [...head.matchAll(DIRECTIVE)].map(([, text = '']) => text.trim());
  const unknown = directives.find((text) => text !== 'no transaction');
  if (unknown === undefined) return directives.length === 0;
  throw new ValidationError(
    `Migration ${name} says "fw-gen: ${unknown}"; the one thing to be said there is "no transaction"`,
  );
}

/** Digest that detects a changed migration. Line ends and outer space do not count. */
export function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.up.replace(/\r\n?/g, '\n').trim()).digest('hex');
}
