import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { checkSchema } from '../check/check-schema.js';
import { emitProject } from '../emit/emit-project.js';
import { readProject } from './read-project.js';

const orders = fileURLToPath(new URL('../golden/orders/input', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fw-damaged-'));
const paths = { source: '', output: 'generated', migrations: 'migrations' };
const files = readdirSync(orders, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Words that are wrong in most places. */
const WORDS = ['any', 'null', '[]', '{}', '<', '@', 'extends', 'class', '__proto__', 'typeof', '*/', '`', ''];

test('whatever is wrong with the sources is reported, nothing is thrown', () => {
  const damage = fc.record({
    file: fc.constantFrom(...files),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 0, max: 4 }),
    word: fc.constantFrom(...WORDS),
  });
  fc.assert(
    fc.property(damage, ({ file, place, length, word }) => {
      cpSync(orders, folder, { recursive: true });
      const tokens = readFileSync(join(folder, file), 'utf8').split(/(\W)/);
      tokens.splice(Math.floor(place * tokens.length), length, word);
      writeFileSync(join(folder, file), tokens.join(''));
      const { schema, diagnostics } = readProject(folder, paths);
      const problems = [...diagnostics, ...checkSchema(schema)];
      if (problems.length === 0)
        expect(
          emitProject({ schema, paths, title: 'test', version: '1.0.0' }).generated.size,
        ).toBeGreaterThan(0);
      for (const { location } of problems) expect(files).toContain(location.file);
    }),
    { numRuns: 80 },
  );
});
