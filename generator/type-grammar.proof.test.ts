import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchema } from './check/check-schema.js';
import { emitProject } from './emit/emit-project.js';
import { readProject } from './read/read-project.js';
import { type CompileRequest, compilerComplaints, emitDeclarations } from './test-support/compiler.js';
import { chooserFrom } from './test-support/source-edits.js';
import { sourceText } from './test-support/type-grammar.js';

/** FUZZ_SEED repeats a run. FW_PROOF_TYPES sets the number of sources, each compiled by each compiler. */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const proof = process.env['FW_PROOF_TYPES'];
const sources = Number(proof ?? 60);
const compilers: readonly CompileRequest['compiler'][] =
  proof === undefined ? ['typescript'] : ['typescript-5.9', 'typescript-6', 'typescript'];
const repository = fileURLToPath(new URL('..', import.meta.url));
const paths = { source: '', output: 'generated', migrations: 'migrations' };
let workshop = '';

beforeAll(() => {
  workshop = mkdtempSync(join(tmpdir(), 'fw-grammar-'));
  symlinkSync(join(repository, 'node_modules'), join(workshop, 'node_modules'));
});

afterAll(() => rmSync(workshop, { recursive: true, force: true }));

test(`${sources} sources of a grammar of types are refused or give code that compiles (FUZZ_SEED=${seed})`, async () => {
  const choose = chooserFrom(seed);
  const folder = join(workshop, 'cases');
  const refusals: string[] = [];
  let accepted = 0;
  for (let number = 0; number < sources; number += 1) {
    const emitted = await emit(join(folder, String(number)), sourceText(choose), refusals);
    accepted += emitted ? 1 : 0;
  }
  expect(accepted).toBeGreaterThan(sources / 3);
  expect(refusals).toEqual([]);
  const declarations = emitDeclarations(join(workshop, 'declarations'));
  for (const compiler of compilers) {
    const complaints = compilerComplaints({
      folder,
      declarations,
      compiler,
      module: 'NodeNext',
      experimentalDecorators: true,
      isolatedDeclarations: false,
    });
    expect({ compiler, broken: brokenCases(complaints) }).toEqual({ compiler, broken: [] });
  }
}, 1_200_000);

/** Writes a case with its output. @returns false if it has mistakes, each of which must have a position */
async function emit(folder: string, text: string, nowhere: string[]): Promise<boolean> {
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write('thing.ts', text);
  const { schema, diagnostics } = readProject(folder, paths);
  const problems = [...diagnostics, ...checkSchema(schema)];
  if (problems.length === 0) {
    const { generated, migrations } = emitProject({
      schema,
      paths,
      title: 'grammar',
      version: '1',
      now: new Date(),
    });
    for (const [path, content] of [...generated, ...migrations]) write(path, content);
    return true;
  }
  for (const { code, location, hint } of problems) {
    if (location.line === undefined || hint === '') nowhere.push(`${folder}: ${code}`);
  }
  rmSync(folder, { recursive: true });
  return false;
}

/** The first error of each case whose source compiles and whose emitted code does not. */
function brokenCases(complaints: readonly string[]): readonly string[] {
  const byCase = new Map<string, string[]>();
  for (const line of complaints) {
    const number = line.split('/', 1)[0] ?? '';
    byCase.set(number, [...(byCase.get(number) ?? []), line]);
  }
  return [...byCase.values()].flatMap((lines) => {
    const isEmitted = lines.every((line) => /^\d+\/(generated|migrations)\//.test(line));
    return isEmitted ? lines.slice(0, 1) : [];
  });
}
