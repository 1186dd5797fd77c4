import { createHash } from 'node:crypto';
import { ValidationError } from '../errors.js';

/** A step of a schema, the same on every shard. */
export interface Migration {
  /** Sorts after every earlier migration, such as `0002_add_nickname`. */
  readonly name: string;
  /** SQL, several statements if need be. It runs in a transaction of its own and must not end it. */
  readonly up: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;

/** @throws ValidationError for a name that is not letters, digits, `_`, `-` and `.`, or for empty SQL */
export function defineMigration(name: string, up: string): Migration {
  if (!NAME.test(name)) {
    throw new ValidationError(
      `A migration's name consists of letters, digits, _, - and ., got ${JSON.stringify(name)}`,
    );
  }
  if (up.trim() === '') throw new ValidationError(`Migration ${name} is empty`);
  return Object.freeze({ name, up });
}

/** Tells whether a migration is still the one that was applied. Line ends and outer space do not count. */
export function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.up.replace(/\r\n?/g, '\n').trim()).digest('hex');
}
