import { printTables } from '../../runtime/migration-header.js';

/** What a new migration is about. */
export interface WantedMigration {
  /** The part of its name after the time, of letters, digits, `_` and `-`. */
  readonly title: string;
  /** Tables that it touches. */
  readonly tables: readonly string[];
}

/** Name and header of a new migration. */
export interface NamedMigration {
  /** UTC time and title: `20260301090000_create_notes`. */
  readonly name: string;
  /** The comments that declare its place and its tables, one per line. */
  readonly header: readonly string[];
}

/**
 * Names a migration after the time, so that two branches choose different names, which sort in the order of writing. The
 * name sorts after all present ones, even if the clock is behind their authors' clocks.
 *
 * @param last name of the last present migration; undefined: there is none
 */
export function nameMigration(
  last: string | undefined,
  { title, tables }: WantedMigration,
  now: Date,
): NamedMigration {
  const time = now.toISOString().slice(0, 19).replace(/\D/g, '');
  const digits = /^\d+/.exec(last ?? '')?.[0] ?? '';
  const place = last === undefined ? 'first' : `after ${last}`;
  return {
    name: `${time > digits ? time : following(digits)}_${title}`,
    header: [`-- fw-gen: ${place}`, `-- fw-gen: tables ${printTables(tables)}`],
  };
}

function following(digits: string): string {
  return String(BigInt(digits) + 1n).padStart(digits.length, '0');
}
