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
/** What a section may add to the comment of its class; only the last one must be there. */
const BULLETS = ['When', 'Known', 'Do'];
const PAGE = fileURLToPath(new URL('errors.md', import.meta.url));
const TABLE = /(?<=<!-- table: begin -->\n\n).*?(?=\n\n<!-- table: end -->)/s;

/** An error class as its source declares it. */
interface ErrorSource {
  readonly code: string;
  readonly className: string;
  /** Its own public fields, in source order. */
  readonly facts: readonly string[];
  /** Its comment, which says when it is thrown and what is known then. */
  readonly about: string;
}

/** What the page adds to the comment of one class. */
interface Section {
  readonly code: string;
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

  /** `UPDATE_GOLDEN=1` writes both. */
  test('begins with a table of the sections, and each section as the source does', () => {
    const table = tableOf(page.split(/^## /m).slice(1, -1));
    const updated = page
      .replace(TABLE, () => table)
      .replaceAll(/^### (FW_\w+)\n\n.*\n\n.*$/gm, (_head, code: string) => headOf(code));
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, updated);
    expect(readFileSync(PAGE, 'utf8')).toBe(updated);
    expect(updated).toContain(table);
  });

  test.each(sections)('says what to do after $code', ({ bullets }) => {
    expect(bullets).toEqual(BULLETS.filter((bullet) => bullet === 'Do' || bullets.includes(bullet)));
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
  const [code = ''] = text.split('\n');
  return { code, bullets: [...text.matchAll(/^- \*\*(\w+):\*\* /gm)].map(([, bullet = '']) => bullet) };
}

/** @param groups the groups of sections, each with its title on the first line */
function tableOf(groups: readonly string[]): string {
  const rows = groups.map((group) => {
    const codes = [...group.matchAll(/^### (\w+)$/gm)].map(([, code = '']) => code);
    const links = codes.map((code) => `[\`${code}\`](#${code.toLowerCase()})`);
    return `| ${group.split('\n')[0]} | ${links.join(' ')} |`;
  });
  return ['| Group | Codes |', '|---|---|', ...rows].join('\n');
}

/** What a section begins with: code, class, status, facts, and the comment of the class. */
function headOf(code: string): string {
  const { className, facts, about } = sources.find((each) => each.code === code) as ErrorSource;
  const shown = facts.length === 0 ? '' : ` Facts: ${facts.map((fact) => `\`${fact}\``).join(', ')}.`;
  return `### ${code}\n\n\`${className}\`, HTTP ${KINDS[code]?.status}.${shown}\n\n${about}`;
}

function classesOf(source: string): readonly ErrorSource[] {
  const classes = source.matchAll(
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport class (\w+) extends FwError \{\n {2}readonly code = '(\w+)';\n([\s\S]*?)^\}/gm,
  );
  return [...classes].map(([, comment = '', className = '', code = '', body = '']) => ({
    className,
    code,
    facts: [...body.matchAll(/^ {2}readonly (\w+)[:;]/gm)].map(([, fact = '']) => fact),
    about: proseOf(comment),
  }));
}

/** The text of a comment without its tags and its HTTP status. */
function proseOf(comment: string): string {
  const [prose = ''] = comment.split(/^ \* @/m);
  return prose
    .replaceAll(/^ \* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/ \(HTTP \d{3}\)/, '')
    .trim();
}

function codesOf(errors: readonly { readonly code: string }[]): readonly string[] {
  return errors.map(({ code }) => code).sort();
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}
