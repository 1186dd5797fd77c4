// Closes the log with one plain line, made from the test runner's own summaries: "812 passed, 0 failed". The line before
// counts the tests that failed first and passed when they were run again.
import { join } from 'node:path';
import { counterOf, readLog } from './read-log.mjs';

const [first, second] = ['first', 'second'].map((name) => readLog(join(process.argv[2] ?? '', name)));
const [count, countAgain] = [first, second].map(counterOf);
const isRepeated = second !== '';
const failed = isRepeated ? countAgain('failed') : count('failed');
const mended = count('failed') - failed;
const passed = count('passed') + mended;
const skipped = count('skipped');
const flaky = `${first}\n${second}`.match(/^FLAKY /gm)?.length ?? 0;
if (flaky + mended > 0)
  console.log(`${flaky + mended} of the passed tests failed first and passed when they were run again`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
