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
 * Names migrations after the time, so that two branches choose different names, which sort in the order of writing. A
 * name sorts after all present ones, even if the clock is behind their authors' clocks.
 *
 * @param present the existing migrations
 */
export function nameMigrations<Wanted extends WantedMigration>(
  present: readonly { readonly name: string }[],
  wanted: readonly Wanted[],
  now: Date,
): readonly (Wanted & NamedMigration)[] {
  let last = present
    .map(({ name }) => name)
    .sort()
    .at(-1);
  return wanted.map((each, index) => {
    const { title, tables } = each;
    const time = utcText(new Date(now.getTime() + index * 1_000));
    const digits = /^\d+/.exec(last ?? '')?.[0] ?? '';
    const name = `${time > digits ? time : following(digits)}_${title}`;
    const place = last === undefined ? 'first' : `after ${last}`;
    last = name;
    return { ...each, name, header: [`-- fw-gen: ${place}`, `-- fw-gen: tables ${printTables(tables)}`] };
  });
}

/** `20260301090000` */
function utcText(time: Date): string {
  return time.toISOString().slice(0, 19).replace(/\D/g, '');
}

function following(digits: string): string {
  return String(BigInt(digits) + 1n).padStart(digits.length, '0');
}
