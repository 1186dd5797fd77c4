import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchema } from './check/check-schema.js';
import { emitProject } from './emit/emit-project.js';
import { readProject } from './read/read-project.js';
import { SourceFiles } from './read/source-files.js';
import { compilerComplaints, emitDeclarations } from './test-support/compiler.js';

/** FUZZ_SEED repeats a run, FUZZ_RUNS makes it longer. */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env['FUZZ_RUNS'] ?? 400);
const golden = fileURLToPath(new URL('golden', import.meta.url));
const repository = fileURLToPath(new URL('..', import.meta.url));
const paths = { source: '', output: 'generated', migrations: 'migrations' };
let workshop = '';

beforeAll(() => {
  workshop = mkdtempSync(join(tmpdir(), 'fw-fuzz-'));
});

afterAll(() => rmSync(workshop, { recursive: true, force: true }));

/** A small generator of numbers from 0 to 1 (mulberry32), the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Words that are wrong in most places, and some that are correct in a few. */
const WORDS = [
  'any',
  'null',
  'undefined',
  '[]',
  '{}',
  '<',
  '>',
  '@',
  'extends',
  'class',
  '__proto__',
  'constructor',
  'typeof',
  '*/',
  '`',
  "'",
  '${',
  '',
  'string',
  'number',
  'bigint',
  'Date',
  'Decimal',
  'Order',
  'Id<Order>',
  '?',
  '!',
  'readonly',
  'static',
  '| null',
  "'a' | 'b'",
  '/** @maxLength 3 */',
  '/** @minimum 1 */',
  '"two words"',
  'delete',
  'default',
  '\u2028',
];

interface Case {
  readonly number: number;
  readonly file: string;
  readonly text: string;
}

function mutate(text: string, random: () => number): string {
  const tokens = text.split(/(\W)/);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  for (let count = 1 + Math.floor(random() * 2); count > 0; count -= 1) {
    const place = Math.floor(random() * tokens.length);
    const kind = random();
    if (kind < 0.3) tokens.splice(place, 1, pick(WORDS) ?? '');
    else if (kind < 0.5) tokens.splice(place, Math.floor(random() * 4));
    else if (kind < 0.7) tokens.splice(place, 1, pick(tokens) ?? '');
    else if (kind < 0.85) tokens.splice(place, 0, pick(WORDS) ?? '');
    else tokens.splice(place, 0, ...tokens.slice(place, place + Math.floor(random() * 20)));
  }
  return tokens.join('');
}

test(`${runs} damaged sources give diagnostics or code that compiles (FUZZ_SEED=${seed})`, () => {
  const random = randomFrom(seed);
  const folder = join(workshop, 'project');
  cpSync(join(golden, 'handlers/input'), folder, { recursive: true });
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const sources = new SourceFiles(folder);
  const seen = new Set<string>();
  const toCompile: Case[] = [];
  for (let number = 0; number < runs; number += 1) {
    const file = files[Math.floor(random() * files.length)] ?? '';
    const original = readFileSync(join(folder, file), 'utf8');
    const text = mutate(original, random);
    writeFileSync(join(folder, file), text);
    sources.forget([file]);
    const emitted = emit(folder, sources, `case ${number} of seed ${seed}`);
    if (emitted !== undefined) {
      const hash = createHash('sha256')
        .update([...emitted].join('\0'))
        .digest('hex');
      if (!seen.has(hash)) {
        seen.add(hash);
        toCompile.push({ number, file, text });
        writeCase(folder, number, emitted);
      }
    }
    writeFileSync(join(folder, file), original);
    sources.forget([file]);
  }
  expect(toCompile.length).toBeGreaterThan(runs / 100);
  expect(brokenCases(toCompile)).toEqual([]);
}, 240_000);

/** The output of a project; undefined if it has mistakes, each of which must have a position. */
function emit(folder: string, sources: SourceFiles, label: string): ReadonlyMap<string, string> | undefined {
  try {
    const { schema, diagnostics } = readProject(folder, paths, sources);
    const problems = [...diagnostics, ...checkSchema(schema)];
    if (problems.every(({ location, hint }) => location.file !== '' && hint !== '') && problems.length > 0)
      return undefined;
    const { generated, migrations } = emitProject({
      schema,
      paths,
      title: 'fuzz',
      version: '1',
      now: new Date(),
    });
    return new Map([...generated, ...migrations]);
  } catch (error) {
    throw new Error(`${label} throws`, { cause: error });
  }
}

function writeCase(folder: string, number: number, emitted: ReadonlyMap<string, string>): void {
  const target = join(workshop, 'cases', String(number));
  cpSync(folder, target, { recursive: true });
  for (const [path, text] of emitted) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  }
}

/** Cases whose emitted code does not compile although the sources do. */
function brokenCases(cases: readonly Case[]): readonly string[] {
  symlinkSync(join(repository, 'node_modules'), join(workshop, 'node_modules'));
  const complaints = compilerComplaints({
    folder: join(workshop, 'cases'),
    declarations: emitDeclarations(join(workshop, 'declarations')),
    compiler: 'typescript',
    module: 'NodeNext',
    experimentalDecorators: true,
    isolatedDeclarations: false,
  });
  return cases.flatMap(({ number, file }) => {
    const own = complaints.filter((line) => line.startsWith(`${number}/`));
    const emitted = own.filter((line) => /^\d+\/(generated|migrations)\//.test(line));
    return emitted.length > 0 && emitted.length === own.length
      ? [`${file} of case ${number}: ${emitted[0]}`]
      : [];
  });
}
