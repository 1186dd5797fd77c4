import { existsSync, readFileSync } from 'node:fs';

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** The text of a log without colours; empty if there is none. */
export function readLog(path) {
  return existsSync(path) ? readFileSync(path, 'utf8').replace(colours, '') : '';
}

/** How many tests the test runner's summary counts, by word: `passed`, `failed`, `skipped`. */
export function counterOf(log) {
  const summary = log.match(/^\s*Tests\s+.*$/gm)?.at(-1) ?? '';
  return (word) => Number(summary.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
}
