import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainGenerate } from './generate-flags.js';
import { upToDate } from './stamp.js';
import { writeText } from './standard-streams.js';

const argv = process.argv.slice(2);
const plain = plainGenerate(argv);
const found = plain && upToDate(plain.config);

if (found !== undefined) {
  if (plain?.quiet !== true) {
    const state =
      plain?.check === true ? `${found.files} files up to date` : `0 files written, ${found.files} unchanged`;
    writeText(process.stdout, `${state}, ${Math.round(performance.now())} ms\n`);
    for (const warning of found.warnings) writeText(process.stderr, `${warning}\n`);
  }
} else {
  await keepCompiledCode();
  if (argv[0] === 'generate') {
    // In the bundle, as everything that a run needs.
    const { runInTerminal } = await import('./terminal.js');
    const { GENERATE } = await import('./generate-command.js');
    await runInTerminal(argv, [GENERATE]);
  } else {
    const { runProcess } = await import('./run-process.js');
    await runProcess(argv);
  }
}

/** Lets Node.js, if it can, cache the compiled code in this package's own folder: the compiler of TypeScript is large. */
async function keepCompiledCode(): Promise<void> {
  const module = await import('node:module');
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return;
  module.enableCompileCache(join(fileURLToPath(import.meta.url), '../../compiled'));
}
