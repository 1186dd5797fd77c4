import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SQL_STATE_CLASSES, SQL_STATE_CODES, sqlStateMeaning } from './sql-state.js';

const page = readFileSync(new URL('../../docs/outcomes.md', import.meta.url), 'utf8');

/** Rows of the table: code or class, and meaning. */
const rows = [...page.matchAll(/^\| `(\w{5}|\w\w\.\.\.)` \| [^|]+ \| (\w+) \|$/gm)].map(
  ([, code = '', meaning = '']) => [code, meaning] as const,
);

describe('docs/outcomes.md', () => {
  it('lists exactly the codes and classes that have a meaning', () => {
    const classes = Object.entries(SQL_STATE_CLASSES).map(([start, meaning]) => [`${start}...`, meaning]);
    const known = [...Object.entries(SQL_STATE_CODES), ...classes];
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(known));
  });

  it('states the reaction to each meaning', () => {
    const done = [...page.matchAll(/^\| ([a-z, ]+) \| [^|]*`\w+Error`[^|]* \|$/gm)].flatMap(
      ([, names = '']) => names.split(', '),
    );
    const meanings = [...Object.values(SQL_STATE_CODES), ...Object.values(SQL_STATE_CLASSES), 'other'];
    expect(new Set(done)).toEqual(new Set(meanings));
  });
});

describe('An SQLSTATE', () => {
  it('has the meaning of its code, else of its class, else `other`', () => {
    expect(sqlStateMeaning('57014')).toBe('transient');
    expect(sqlStateMeaning('57P01')).toBe('unavailable');
    expect(sqlStateMeaning('42P01')).toBe('other');
  });
});
