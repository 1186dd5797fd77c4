// Closes the log with one plain line, made from the test runner's own summaries: "812 passed, 0 failed". The line before
// counts the tests that failed first and passed when they were run again. A command in which no test ran has failed.
import { join } from 'node:path';
import { counterOf, readLog } from './read-log.mjs';

const [folder = '', ...runs] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0, flaky: 0 };
for (const run of runs) {
  const [first, second] = ['first', 'second'].map((name) => readLog(join(folder, `${run}.${name}`)));
  const [count, countAgain] = [first, second].map(counterOf);
  const failed = second === '' ? count('failed') : countAgain('failed');
  const mended = count('failed') - failed;
  total.passed += count('passed') + mended;
  total.failed += count('passed') === 0 ? Math.max(failed, 1) : failed;
  total.skipped += count('skipped');
  total.flaky += (`${first}\n${second}`.match(/^FLAKY /gm)?.length ?? 0) + mended;
}
const { passed, failed, skipped, flaky } = total;
if (flaky > 0) console.log(`${flaky} of the passed tests failed first and passed when they were run again`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
