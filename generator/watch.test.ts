import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { type GenerateOptions, generate } from './generate.js';
import { chooserFrom, editSources, restoreSources, textsOf } from './test-support/source-edits.js';
import { RunMemory } from './watch.js';

const golden = fileURLToPath(new URL('golden/handlers/input', import.meta.url));
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const EDITS = 500;
const workshop = mkdtempSync(join(tmpdir(), 'fw-watch-'));

afterAll(() => rmSync(workshop, { recursive: true, force: true }));

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

test(`${EDITS} edits one after the other end where a cold run begins (FUZZ_SEED=${seed})`, async () => {
  const folder = join(workshop, 'edited');
  cpSync(golden, join(folder, 'src'), { recursive: true });
  const originals = textsOf(folder);
  const choose = chooserFrom(seed);
  const memory = new RunMemory();
  await generate({ ...optionsFor(folder), memory });
  for (let count = 0; count < EDITS; count += 1) {
    memory.forget(editSources(folder, choose, originals));
    const { diagnostics } = await generate({ ...optionsFor(folder), memory });
    if (count % 100 !== 0) continue;
    const cold = await generate({ ...optionsFor(folder), dryRun: true });
    expect(diagnostics).toEqual(cold.diagnostics);
  }
  memory.forget(restoreSources(folder, originals));
  const last = await generate({ ...optionsFor(folder), memory });
  expect(last.diagnostics).toEqual([]);
  const warm = generatedIn(folder);
  rmSync(join(folder, 'src/generated'), { recursive: true });
  await generate(optionsFor(folder));
  expect(generatedIn(folder)).toEqual(warm);
}, 120_000);
