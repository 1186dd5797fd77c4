import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as application from 'fw-actions';
import * as codegen from 'fw-actions/codegen';
import * as config from 'fw-actions/config';
import * as http from 'fw-actions/http';
import * as operate from 'fw-actions/operate';
import * as relay from 'fw-actions/relay';
import { describe, expect, test } from 'vitest';
import { PROBLEM_KINDS, type ProblemKind } from '../runtime/http/problem-kinds.js';

const KINDS: Readonly<Record<string, ProblemKind>> = PROBLEM_KINDS;
const BULLETS = ['When', 'Known', 'Do'];
const PAGE = fileURLToPath(new URL('errors.md', import.meta.url));
const TABLE = /(?<=<!-- table: begin -->\n\n).*?(?=\n\n<!-- table: end -->)/s;

/** An error class as its source declares it. */
interface ErrorSource {
  readonly code: string;
  readonly className: string;
  /** Its own public fields, in source order. */
  readonly facts: readonly string[];
}

/** What the page says about one code. */
interface Section extends ErrorSource {
  readonly status: number;
  readonly bullets: readonly string[];
}

const page = readFileSync(PAGE, 'utf8');
const sections = page.split(/^### /m).slice(1).map(parseSection);
const sources = ['../runtime/errors.ts', '../runtime/config/configuration-error.ts'].flatMap((file) =>
  classesOf(read(file)),
);

describe('docs/errors.md', () => {
  test('has one section for each code, and the code list has no other', () => {
    const listed = [...read('../runtime/error-kinds.ts').matchAll(/^ {2}(FW_\w+): \{/gm)].map(
      ([, code]) => code,
    );
    expect(codesOf(sections)).toEqual([...listed].sort());
    expect(codesOf(sources)).toEqual([...listed].sort());
  });

  test.each(sections)('names class and facts of $code as the source does', ({ code, className, facts }) => {
    const source = sources.find((each) => each.code === code);
    expect({ className, facts }).toEqual({ className: source?.className, facts: source?.facts });
  });

  test.each(sections)('states the HTTP status of $code', ({ code, status }) => {
    expect(status).toBe(KINDS[code]?.status);
  });

  test.each(sections)('says when $code is thrown, what is known and what to do', ({ bullets }) => {
    expect(bullets).toEqual(BULLETS);
  });

  /** `UPDATE_GOLDEN=1` writes the table. */
  test('links every section from the table on top', () => {
    const rows = page
      .split(/^## /m)
      .slice(1, -1)
      .map((group) => {
        const codes = [...group.matchAll(/^### (\w+)$/gm)].map(([, code = '']) => code);
        const links = codes.map((code) => `[\`${code}\`](#${code.toLowerCase()})`);
        return `| ${group.split('\n')[0]} | ${links.join(' ')} |`;
      });
    const table = ['| Group | Codes |', '|---|---|', ...rows].join('\n');
    const updated = page.replace(TABLE, () => table);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, updated);
    expect(readFileSync(PAGE, 'utf8')).toBe(updated);
    expect(updated).toContain(table);
  });

  test('lists the codes that only HTTP knows, with their status', () => {
    const listed = [...page.matchAll(/^\| `(HTTP_\w+)` \| (\d+) \| .+ \|$/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    const kinds = Object.entries(KINDS).filter(([code]) => code.startsWith('HTTP_'));
    expect(listed).toEqual(kinds.map(([code, { status }]) => [code, status]));
  });
});

test('every error class can be imported', () => {
  const names = [application, codegen, config, http, operate, relay].flatMap((each) => Object.keys(each));
  expect(sources.map(({ className }) => className).filter((name) => !names.includes(name))).toEqual([]);
});

function parseSection(text: string): Section {
  const [, code = '', className = '', status = '', facts = ''] =
    /^(FW_\w+)\n\n`(\w+)`, HTTP (\d{3})\.(?: Facts: (.+)\.)?\n/.exec(text) ?? [];
  return {
    code,
    className,
    status: Number(status),
    facts: [...facts.matchAll(/`(\w+)`/g)].map(([, fact = '']) => fact),
    bullets: [...text.matchAll(/^- \*\*(\w+):\*\* /gm)].map(([, bullet = '']) => bullet),
  };
}

function classesOf(source: string): readonly ErrorSource[] {
  const classes = source.matchAll(
    /^export class (\w+) extends FwError \{\n {2}readonly code = '(\w+)';\n([\s\S]*?)^\}/gm,
  );
  return [...classes].map(([, className = '', code = '', body = '']) => ({
    className,
    code,
    facts: [...body.matchAll(/^ {2}readonly (\w+)[:;]/gm)].map(([, fact = '']) => fact),
  }));
}

function codesOf(errors: readonly { readonly code: string }[]): readonly string[] {
  return errors.map(({ code }) => code).sort();
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}
