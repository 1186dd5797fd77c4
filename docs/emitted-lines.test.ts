import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { generate } from '../generator/generate.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Lines of an example's sources that are not blank, tests aside. SQL is written, wherever it is emitted again. */
function linesOf(example: string): { readonly written: number; readonly emitted: number } {
  const folder = join(ROOT, 'examples', example);
  const paths = readdirSync(folder, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'));
  const sources = paths.filter(
    // A client is emitted on request, for other programs.
    (path) => /\.(ts|sql)$/.test(path) && !/\.test(-d)?\.ts$|^test-support\/|^generated\/client\//.test(path),
  );
  const count = (counts: (path: string) => boolean): number =>
    sources
      .filter(counts)
      .flatMap((path) =>
        readFileSync(join(folder, path), 'utf8')
          .replace(/^ *up: `[^`]*`/gm, '')
          .split('\n'),
      )
      .filter((line) => line.trim() !== '').length;
  const isEmitted = (path: string): boolean => path.startsWith('generated/');
  return { written: count((path) => !isEmitted(path)), emitted: count(isEmitted) };
}

function isAbout(said: string | undefined, real: number): boolean {
  const number = Number(said?.replace(',', ''));
  return number > real * 0.95 && number < real * 1.05;
}

describe('how much is emitted', () => {
  const page = readFileSync(join(ROOT, 'docs/templates.md'), 'utf8');

  test.each(['wallet', 'booking'])('the page says about how many lines the %s has', (example) => {
    const { written, emitted } = linesOf(example);
    const row = new RegExp(`\\| ${example} \\| ([\\d,]+) \\| ([\\d,]+) \\|`).exec(page);
    expect([written, emitted, isAbout(row?.[1], written), isAbout(row?.[2], emitted)]).toEqual([
      written,
      emitted,
      true,
      true,
    ]);
  });

  test('the README of the booking example states the same', () => {
    const { written, emitted } = linesOf('booking');
    const readme = readFileSync(join(ROOT, 'examples/booking/README.md'), 'utf8');
    const said = (row: string): string | undefined =>
      new RegExp(`\\| ${row} \\| ([\\d,]+) \\|`).exec(readme)?.[1];
    expect(isAbout(said('written by hand'), written)).toBe(true);
    expect(isAbout(said('emitted by `fw-gen generate`'), emitted)).toBe(true);
  });

  test('the wallet emits at most 0.8 lines for a line that a person wrote', () => {
    const { written, emitted } = linesOf('wallet');
    expect(emitted / written).toBeLessThanOrEqual(0.8);
  });

  test('a route of the wallet gives at most 15 lines on average, its import included', async () => {
    const folder = join(ROOT, 'examples/wallet');
    const result = await generate({
      projectDirectory: ROOT,
      sourceDirectory: folder,
      outputDirectory: join(folder, 'generated'),
      migrationsDirectory: join(folder, 'migrations'),
      dryRun: true,
      force: true,
    });
    const origins = [...result.trace().values()].flatMap((traced) => traced.origins);
    const counts = new Map<string, number>();
    for (const origin of origins) {
      if (origin?.file.includes('/actions/') !== true) continue;
      counts.set(origin.file, (counts.get(origin.file) ?? 1) + 1);
    }
    const routed = [...counts].filter(([file]) =>
      readFileSync(join(ROOT, file), 'utf8').includes('@HttpRoute'),
    );
    const lines = routed.map(([, count]) => count);
    expect(lines.length).toBe(9);
    expect(lines.reduce((sum, count) => sum + count, 0) / lines.length).toBeLessThanOrEqual(15);
  });
});
