import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GenerateFlags, plainGenerate } from './generate-flags.js';
import { upToDate } from './stamp.js';
import { writeText } from './standard-streams.js';

const argv = process.argv.slice(2);
const flags = plainGenerate(argv);
const found = flags === undefined || !isAnswerable(flags) ? undefined : upToDate(flags.config);

if (flags !== undefined && found !== undefined) {
  if (flags.quiet !== true) {
    const state =
      flags.check === true ? `${found.files} files up to date` : `0 files written, ${found.files} unchanged`;
    writeText(process.stdout, `${state}, ${Math.round(performance.now())} ms\n`);
    for (const warning of found.warnings) writeText(process.stderr, `${warning}\n`);
  }
} else {
  await keepCompiledCode();
  if (flags === undefined) {
    const { runProcess } = await import('./run-process.js');
    await runProcess(argv);
  } else {
    const { generateProcess } = await import('./generate-process.js');
    await generateProcess(flags);
  }
}

/** Whether the stamp of an earlier run can answer this one. */
function isAnswerable({ config, check, quiet, format, ...others }: GenerateFlags): boolean {
  return format === 'text' && Object.keys(others).length === 0;
}

/** Lets Node.js, if it can, cache the compiled code in this package's own folder: the compiler of TypeScript is large. */
async function keepCompiledCode(): Promise<void> {
  const module = await import('node:module');
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return;
  module.enableCompileCache(join(fileURLToPath(import.meta.url), '../../compiled'));
}
