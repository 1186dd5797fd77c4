import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { type GenerateOptions, type GenerateResult, generate } from './generate.js';
import { SourceFiles } from './read/source-files.js';
import { chooserFrom, editBody, editSources, restoreSources, textsOf } from './test-support/source-edits.js';

const golden = fileURLToPath(new URL('golden/handlers/input', import.meta.url));
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const EDITS = Number(process.env['FW_PROOF_INPUTS'] ?? 60);
const workshop = temporaryFolder();

function optionsFor(folder: string): GenerateOptions {
  return {
    projectDirectory: folder,
    sourceDirectory: join(folder, 'src'),
    outputDirectory: join(folder, 'src/generated'),
    migrationsDirectory: join(folder, 'src/migrations'),
  };
}

function generatedIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(folder, 'src/generated')).filter((name) => /\.(ts|json)$/.test(name));
  return Object.fromEntries(
    names.sort().map((name) => [name, readFileSync(join(folder, 'src/generated', name), 'utf8')]),
  );
}

test(`${EDITS} edits end where a cold run begins (FUZZ_SEED=${seed})`, async () => {
  const folder = join(workshop, 'project');
  cpSync(golden, join(folder, 'src'), { recursive: true });
  const originals = textsOf(folder);
  const choose = chooserFrom(seed);
  const [sources, drafts] = [new SourceFiles(folder), new Set<string>()];
  const run = (): Promise<GenerateResult> => generate({ ...optionsFor(folder), sources, drafts });
  await run();
  for (let count = 0; count < EDITS; count += 1) {
    sources.forget(choose(2) === 0 ? editBody(folder, choose) : editSources(folder, choose, originals));
    const { diagnostics } = await run();
    if (count % 20 === 0) {
      const cold = await generate({ ...optionsFor(folder), dryRun: true });
      expect(diagnostics).toEqual(cold.diagnostics);
      expect(cold.changes.filter(({ kind }) => kind !== 'unchanged')).toEqual([]);
    }
    // Mistakes would hide most of what follows.
    if (diagnostics.length > 0 && choose(2) === 0) sources.forget(restoreSources(folder, originals));
  }
  sources.forget(restoreSources(folder, originals));
  const last = await run();
  expect(last.diagnostics).toEqual([]);
  const warm = generatedIn(folder);
  rmSync(join(folder, 'src/generated'), { recursive: true });
  await generate(optionsFor(folder));
  expect(generatedIn(folder)).toEqual(warm);
}, 120_000);
