// Closes the log with one plain line, made from the test runner's own summary: "812 passed, 0 failed". The line
// before counts the tests that passed on their second try only.
import { readFileSync } from 'node:fs';

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const log = readFileSync(process.argv[2] ?? '', 'utf8').replace(colours, '');
const summary = log.match(/^\s*Tests\s+.*$/gm)?.at(-1) ?? '';
const count = (word) => Number(summary.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
const skipped = count('skipped');
const flaky = log.match(/^FLAKY /gm)?.length ?? 0;
if (flaky > 0) console.log(`${flaky} of the passed tests failed first and passed when they were run again`);
console.log(
  `${count('passed')} passed, ${count('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
);
