import { cacheQuestion, filesUpToDate } from './run-cache.js';

const argv = process.argv.slice(2);
const question = cacheQuestion(argv);
const files = question === undefined ? undefined : filesUpToDate(question.config);

if (question === undefined || files === undefined) {
  const { runProcess } = await import('./run-process.js');
  await runProcess(argv);
} else if (!question.quiet) {
  const state = question.check ? `${files} files up to date` : `0 files written, ${files} unchanged`;
  process.stdout.write(`${state}, ${Math.round(performance.now())} ms\n`);
}
