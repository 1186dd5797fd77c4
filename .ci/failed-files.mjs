// Prints the test files that have failed, a line each. None if what failed is no test: an error outside of tests, or a
// step before them.
import { readLog } from './read-log.mjs';

const log = readLog(process.argv[2] ?? '');
const isOutside = /Unhandled (Error|Rejection)/.test(log);
const files = log.matchAll(/^ ?FAIL\s+(?:\|?\w+\|?\s+)?(\S+\.test\.ts)(?: |$)/gm);
if (!isOutside) for (const file of new Set([...files].map(([, path]) => path))) console.log(file);
