import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Lines of the sources in this folder that are not blank. */
function linesOf(counts: (path: string) => boolean): number {
  const paths = readdirSync(HERE, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'));
  const sources = paths.filter((path) => path.endsWith('.ts') && !/\.test\.ts$|^test-support\//.test(path));
  const texts = sources.filter(counts).map((path) => readFileSync(join(HERE, path), 'utf8'));
  return texts.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '').length;
}

test('the README says how many lines are written and about how many are emitted', () => {
  const isEmitted = (path: string): boolean => path.startsWith('generated/');
  const readme = readFileSync(join(HERE, 'README.md'), 'utf8');
  const said = (row: string): number =>
    Number(new RegExp(`\\| ${row} \\| ([\\d,]+) \\|`).exec(readme)?.[1]?.replace(',', ''));
  expect(said('written by hand')).toBe(linesOf((path) => !isEmitted(path)));
  const emitted = linesOf(isEmitted);
  expect(said('emitted by `fw-gen generate`')).toBeGreaterThan(emitted * 0.9);
  expect(said('emitted by `fw-gen generate`')).toBeLessThan(emitted * 1.1);
});
