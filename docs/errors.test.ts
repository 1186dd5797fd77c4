import { readFileSync } from 'node:fs';
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

const page = read('errors.md');
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

  test('links every section from the table on top', () => {
    const linked = [...page.matchAll(/\[`(FW_\w+)`\]\(#(\w+)\)/g)].map(([, code = '', anchor]) => {
      expect(anchor).toBe(code.toLowerCase());
      return code;
    });
    expect(linked.sort()).toEqual(codesOf(sections));
  });

  test('lists the codes that only HTTP knows, with their status', () => {
    const listed = [...page.matchAll(/^\| `(HTTP_\w+)` \| (\d+) \|$/gm)].map(([, code, status]) => [
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
