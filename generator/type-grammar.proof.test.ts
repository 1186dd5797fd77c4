import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { type CompileRequest, emitDeclarations } from './test-support/compiler.js';
import { brokenCases, emittedFor, linkPackages, writeBelow } from './test-support/emitted-cases.js';
import { chooserFrom } from './test-support/source-edits.js';
import { sourceText } from './test-support/type-grammar.js';

/** FUZZ_SEED repeats a run. FW_PROOF_TYPES sets the number of sources, each compiled by each compiler. */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const proof = process.env['FW_PROOF_TYPES'];
const sources = Number(proof ?? 60);
const compilers: readonly CompileRequest['compiler'][] =
  proof === undefined ? ['typescript'] : ['typescript-5.9', 'typescript-6', 'typescript'];
const workshop = temporaryFolder();

beforeAll(() => linkPackages(workshop));

test(`${sources} sources of a grammar of types are refused or give code that compiles (FUZZ_SEED=${seed})`, () => {
  const choose = chooserFrom(seed);
  const cases = join(workshop, 'cases');
  let accepted = 0;
  for (let number = 0; number < sources; number += 1) {
    const folder = join(cases, String(number));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'thing.ts'), sourceText(choose));
    const { problems, files } = emittedFor(folder);
    expect(problems.filter(({ location, hint }) => location.line === undefined || hint === '')).toEqual([]);
    if (problems.length === 0) accepted += 1;
    if (problems.length === 0) writeBelow(folder, files);
    else rmSync(folder, { recursive: true });
  }
  expect(accepted).toBeGreaterThan(sources / 3);
  const declarations = emitDeclarations(join(workshop, 'declarations'));
  for (const compiler of compilers)
    expect({ compiler, broken: brokenCases(cases, declarations, compiler) }).toEqual({
      compiler,
      broken: [],
    });
}, 1_200_000);
