import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DIAGNOSTICS } from './diagnostics.js';

const pages = fileURLToPath(new URL('../docs/diagnostics', import.meta.url));
const golden = fileURLToPath(new URL('golden', import.meta.url));
const reported = readdirSync(golden)
  .map((name) => join(golden, name, 'diagnostics.txt'))
  .filter((file) => existsSync(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test.each(Object.entries(DIAGNOSTICS))(
  '%s has a page with its title and an example as it is really reported',
  (code, title) => {
    const page = readFileSync(join(pages, `${code}.md`), 'utf8');
    expect(page.startsWith(`# ${code}: ${title}\n`)).toBe(true);
    const [, example = ''] = /```text\n(.*?)\n```/s.exec(page) ?? [];
    expect(example).toContain(` ${code} `);
    expect(reported).toContain(example);
  },
);

test('the index lists every code with its title, and no other', () => {
  const index = readFileSync(join(pages, 'README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| \[(\w+)\]\(\1\.md\) \| (.*) \|$/gm)].map(([, code, title]) => [
    code,
    title,
  ]);
  expect(rows).toEqual(Object.entries(DIAGNOSTICS));
  expect(readdirSync(pages).sort()).toEqual(
    [...Object.keys(DIAGNOSTICS).map((code) => `${code}.md`), 'README.md'].sort(),
  );
});
