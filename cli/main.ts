import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optimizeLess, resumeOptimizing, spareOptimizing } from './brief-process.js';
import { type GenerateFlags, plainGenerate } from './generate-flags.js';
import type * as GenerateProcess from './generate-process.js';
import { filesUpToDate } from './run-cache.js';

/** Up to this number of changed files, reading them takes negligible time. */
const FEW = 100;

const argv = process.argv.slice(2);
const flags = plainGenerate(argv);
const found =
  flags === undefined || !isAnswerable(flags) ? undefined : filesUpToDate(flags.config, spareOptimizing);

if (flags === undefined) {
  await keepCompiledCode();
  const { runProcess } = await import('./run-process.js');
  await runProcess(argv);
} else if (typeof found !== 'number') {
  if (found !== undefined && found.changed.length < FEW) spareOptimizing();
  else prepareForMuch();
  const { generateProcess } = await loadGenerate();
  await generateProcess(flags, { before: found, onWhole: prepareForMuch });
} else if (flags.quiet !== true) {
  const state = flags.check === true ? `${found} files up to date` : `0 files written, ${found} unchanged`;
  process.stdout.write(`${state}, ${Math.round(performance.now())} ms\n`);
}

/** Whether the record of an earlier run can answer this one. */
function isAnswerable({ config, check, quiet, cache, format, ...others }: GenerateFlags): boolean {
  return cache && format === 'text' && Object.keys(others).length === 0;
}

function prepareForMuch(): void {
  resumeOptimizing();
  optimizeLess();
}

/** Loads the generator from its bundle, one file. */
async function loadGenerate(): Promise<typeof GenerateProcess> {
  const { requireCompiled } = await import('../generator/compiled-code.js');
  return requireCompiled(
    fileURLToPath(new URL('../bundle/generate.cjs', import.meta.url)),
    fileURLToPath(new URL('../compiled', import.meta.url)),
  );
}

/** Lets Node.js, if it can, cache the compiled code in this package's own folder. */
async function keepCompiledCode(): Promise<void> {
  const module = await import('node:module');
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return;
  module.enableCompileCache(join(fileURLToPath(import.meta.url), '../../compiled/node'));
}
