import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { SourceFiles } from './read/source-files.js';
import { emitDeclarations } from './test-support/compiler.js';
import { brokenCases, emittedFor, linkPackages, writeBelow } from './test-support/emitted-cases.js';
import { type Choose, chooserFrom } from './test-support/source-edits.js';

/** FUZZ_SEED repeats a run, FUZZ_RUNS makes it longer. */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env['FUZZ_RUNS'] ?? 400);
const input = fileURLToPath(new URL('golden/handlers/input', import.meta.url));
const workshop = temporaryFolder();

beforeAll(() => linkPackages(workshop));

/** Words that are wrong in most places, and some that are correct in a few. */
const WORDS = [
  ...['any', 'null', 'undefined', '[]', '{}', '<', '>', '@', 'extends', 'class', '__proto__'],
  ...['constructor', 'typeof', '*/', '`', "'", '${', '', 'string', 'number', 'bigint', 'Date'],
  ...['Decimal', 'Order', 'Id<Order>', '?', '!', 'readonly', 'static', '| null', "'a' | 'b'"],
  ...['/** @maxLength 3 */', '/** @minimum 1 */', '"two words"', 'delete', 'default', '\u2028'],
];

function mutate(text: string, choose: Choose): string {
  const tokens = text.split(/(\W)/);
  const pick = (list: readonly string[]): string => list[choose(Math.max(1, list.length))] ?? '';
  for (let count = 1 + choose(2); count > 0; count -= 1) {
    const place = choose(Math.max(1, tokens.length));
    const kind = choose(20);
    if (kind < 6) tokens.splice(place, 1, pick(WORDS));
    else if (kind < 10) tokens.splice(place, choose(4));
    else if (kind < 14) tokens.splice(place, 1, pick(tokens));
    else if (kind < 17) tokens.splice(place, 0, pick(WORDS));
    else tokens.splice(place, 0, ...tokens.slice(place, place + choose(20)));
  }
  return tokens.join('');
}

test(`${runs} damaged sources give diagnostics or code that compiles (FUZZ_SEED=${seed})`, () => {
  const choose = chooserFrom(seed);
  const folder = join(workshop, 'project');
  const cases = join(workshop, 'cases');
  cpSync(input, folder, { recursive: true });
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts'));
  const sources = new SourceFiles(folder);
  const seen = new Set<string>();
  for (let number = 0; number < runs; number += 1) {
    const file = files[choose(files.length)] ?? '';
    const original = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), mutate(original, choose));
    sources.forget([file]);
    const emitted = emittedOrThrow(folder, sources, `case ${number} of seed ${seed}`);
    const text = JSON.stringify([...emitted]);
    if (emitted.size > 0 && !seen.has(text)) {
      seen.add(text);
      cpSync(folder, join(cases, String(number)), { recursive: true });
      writeBelow(join(cases, String(number)), emitted);
    }
    writeFileSync(join(folder, file), original);
    sources.forget([file]);
  }
  expect(seen.size).toBeGreaterThan(runs / 100);
  expect(brokenCases(cases, emitDeclarations(join(workshop, 'declarations')))).toEqual([]);
}, 240_000);

/** Mistakes must have a position and a hint. */
function emittedOrThrow(folder: string, sources: SourceFiles, label: string): ReadonlyMap<string, string> {
  try {
    const { problems, files } = emittedFor(folder, sources);
    expect(problems.filter(({ location, hint }) => location.file === '' || hint === '')).toEqual([]);
    return files;
  } catch (error) {
    throw new Error(`${label} throws`, { cause: error });
  }
}
