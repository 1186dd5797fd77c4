import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { type GenerateOptions, generate } from './generate.js';
import { modelText } from './test-support/projects.js';
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

function sourcesOf(folder: string): readonly string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(generated|migrations)/.test(name))
    .map((name) => `src/${name}`)
    .sort();
}

function generatedIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(folder, 'src/generated')).filter((name) => /\.(ts|json)$/.test(name));
  return Object.fromEntries(
    names.sort().map((name) => [name, readFileSync(join(folder, 'src/generated', name), 'utf8')]),
  );
}

/** Multiplicative congruential: enough to choose edits. */
function randomFrom(start: number): (below: number) => number {
  let state = (start % 2147483646) + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** One edit of a source tree. @returns the files that it touched */
function edit(
  folder: string,
  random: (below: number) => number,
  originals: ReadonlyMap<string, string>,
): readonly string[] {
  const files = sourcesOf(folder);
  const file = files[random(files.length)] ?? '';
  const write = (path: string, text: string): readonly string[] => {
    writeFileSync(join(folder, path), text);
    return [path];
  };
  const text = readFileSync(join(folder, file), 'utf8');
  const [known = '', original = ''] = [...originals][random(originals.size)] ?? [];
  switch (random(7)) {
    case 0:
      return write(
        file,
        text.replace(/readonly (\w+)/, (_all, name) => `readonly ${name}${random(9)}`),
      );
    case 1:
      return write(file, text.slice(0, random(text.length)));
    case 2:
      rmSync(join(folder, file));
      return [file];
    case 3:
      return write(`src/models/extra${random(5)}.ts`, modelText(`Extra${random(5)}`, `field${random(3)}`));
    case 4: {
      const target = file.replace(/\.ts$/, `-${random(9)}.ts`);
      rmSync(join(folder, file));
      return [file, ...write(target, text)];
    }
    default:
      return write(known, original);
  }
}

test(`${EDITS} edits one after the other end where a cold run begins (FUZZ_SEED=${seed})`, async () => {
  const folder = join(workshop, 'edited');
  cpSync(golden, join(folder, 'src'), { recursive: true });
  const originals = new Map(
    sourcesOf(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const random = randomFrom(seed);
  const memory = new RunMemory(folder);
  await generate({ ...optionsFor(folder), memory });
  for (let count = 0; count < EDITS; count += 1) {
    memory.forget(edit(folder, random, originals));
    const { diagnostics } = await generate({ ...optionsFor(folder), memory });
    if (count % 100 !== 0) continue;
    const cold = await generate({ ...optionsFor(folder), dryRun: true });
    expect(diagnostics).toEqual(cold.diagnostics);
  }
  // Back to sources without a mistake, but for what was added.
  const added = sourcesOf(folder).filter((path) => !originals.has(path));
  for (const path of added) rmSync(join(folder, path));
  for (const [path, text] of originals) writeFileSync(join(folder, path), text);
  memory.forget([...added, ...originals.keys()]);
  const last = await generate({ ...optionsFor(folder), memory });
  expect(last.diagnostics).toEqual([]);
  const warm = generatedIn(folder);
  rmSync(join(folder, 'src/generated'), { recursive: true });
  await generate(optionsFor(folder));
  expect(generatedIn(folder)).toEqual(warm);
}, 120_000);
