import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SQL_STATE_CLASSES, SQL_STATE_CODES, sqlStateMeaning } from './sql-state.js';

const PAGE = new URL('../../docs/outcomes.md', import.meta.url);
const TABLE = /(?<=<!-- table: begin -->\n\n).*?(?=\n\n<!-- table: end -->)/s;
const page = readFileSync(PAGE, 'utf8');

/** What the source says of a code or class beside its meaning: its name. */
const source = readFileSync(new URL('./sql-state.ts', import.meta.url), 'utf8');

describe('docs/outcomes.md', () => {
  /** `UPDATE_GOLDEN=1` writes the table. */
  it('lists exactly the codes and classes that have a meaning', () => {
    const rows = [...source.matchAll(/^ {2}'(\w+)': '(\w+)', \/\/ ([^:\n]+)/gm)].map(
      ([, code = '', meaning, name]) => `| \`${code.padEnd(5, '.')}\` | ${name} | ${meaning} |`,
    );
    const known = { ...SQL_STATE_CODES, ...SQL_STATE_CLASSES };
    expect(rows).toHaveLength(Object.keys(known).length);
    const table = ['| SQLSTATE | Name | Meaning |', '|---|---|---|', ...rows].join('\n');
    const updated = page.replace(TABLE, () => table);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, updated);
    expect(readFileSync(PAGE, 'utf8')).toBe(updated);
    expect(updated).toContain(table);
  });

  it('states the reaction to each meaning', () => {
    const done = [...page.matchAll(/^\| ([a-z, ]+) \| [^|]*`\w+Error`[^|]* \|$/gm)].flatMap(
      ([, names = '']) => names.split(', '),
    );
    const meanings = [...Object.values(SQL_STATE_CODES), ...Object.values(SQL_STATE_CLASSES), 'other'];
    expect(new Set(done)).toEqual(new Set(meanings));
  });
});

it('An SQLSTATE has the meaning of its code, else of its class, else `other`', () => {
  expect(sqlStateMeaning('57014')).toBe('transient');
  expect(sqlStateMeaning('57P01')).toBe('unavailable');
  expect(sqlStateMeaning('42P01')).toBe('other');
});
