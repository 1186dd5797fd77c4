import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CacheQuestion, cacheFolder, cacheQuestion, filesUpToDate } from './run-cache.js';

const argv = process.argv.slice(2);
const question = cacheQuestion(argv);
const files = question === undefined ? undefined : filesUpToDate(question.config);

if (question === undefined || files === undefined) {
  if (question !== undefined) await keepCompiledCode(question);
  const { runProcess } = await import('./run-process.js');
  await runProcess(argv);
} else if (!question.quiet) {
  const state = question.check ? `${files} files up to date` : `0 files written, ${files} unchanged`;
  process.stdout.write(`${state}, ${Math.round(performance.now())} ms\n`);
}

/** Lets Node.js, where it can, keep the compiled code of what is loaded now: beside the rest of the cache. */
async function keepCompiledCode({ config }: CacheQuestion): Promise<void> {
  const module = await import('node:module');
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return;
  const folder = existsSync(config) ? cacheFolder(config) : undefined;
  if (folder !== undefined && existsSync(folder)) module.enableCompileCache(join(folder, 'node'));
}
