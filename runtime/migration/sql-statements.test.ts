import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitStatements } from './sql-statements.js';

const texts = (sql: string) => splitStatements(sql).map(({ text }) => text);

const BODY =
  'create or replace function f() returns int begin atomic select case when a then 1 end; select 2; end';

describe('Statements of a text', () => {
  // The statements are joined by bars.
  it.each([
    ['semicolons alone', ' ;; \n; ', ''],
    ['a last one without a semicolon', 'select 1; select 2', 'select 1|select 2'],
    ['quotes', `select ';', 'it''s;', ";"";"; select 2`, `select ';', 'it''s;', ";"";"|select 2`],
    ['backslashes that escape', String.raw`select e'\';', E'\\'; x`, String.raw`select e'\';', E'\\'|x`],
    ['backslashes that do not', String.raw`select '\'; x`, String.raw`select '\'|x`],
    ['words that end in e', `select type'a;b'; x`, `select type'a;b'|x`],
    ['dollar quotes', 'do $$ a; $b$ b; $$; do $b$ a; $$ b $b$; x', 'do $$ a; $b$ b; $$|do $b$ a; $$ b $b$|x'],
    [
      'parameters and dollars in names',
      'select $1; select a$b; select c$d',
      'select $1|select a$b|select c$d',
    ],
    ['comments', 'select 1 -- ; not\n + 1; /* a; /* b; */ c; */ x', 'select 1 -- ; not\n + 1|x'],
    [
      'parentheses',
      'create rule r as on insert to t do (a; b); x',
      'create rule r as on insert to t do (a; b)|x',
    ],
    ['bodies in SQL', `${BODY}; x`, `${BODY}|x`],
    ['transactions', 'begin; select 1; end; x', 'begin|select 1|end|x'],
    ['quotes that never end', "select 1; select 'a; b", "select 1|select 'a; b"],
    ['comments that never end', 'select 1; /* a; b', 'select 1'],
  ])('are separated by their ends: %s', (_, sql, expected) => {
    expect(texts(sql).join('|')).toBe(expected);
  });

  it('begin at their offsets, and only white space, comments and semicolons are between them', () => {
    const pieces = [..."';' $$;$$ ; /*;*/ (;) a \" ' $x$ é 😀".split(' '), ' ', '\n', '--;\n', 'begin '];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        const sql = parts.join('');
        let rest = sql;
        for (const { text, offset } of splitStatements(sql)) {
          expect(sql.startsWith(text, offset)).toBe(true);
          rest = rest.replace(text, '');
        }
        expect(rest.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '')).toMatch(/^[\s;*/]*$/);
      }),
    );
  });
});
