import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DIAGNOSTICS } from './diagnostics.js';
import { ts } from './read/compiler.js';

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

/** `UPDATE_GOLDEN=1` writes the table. */
test('the index lists exactly the codes, with their titles', () => {
  const index = join(pages, 'README.md');
  const rows = Object.entries(DIAGNOSTICS).map(([code, title]) => `| [${code}](${code}.md) | ${title} |`);
  const page = readFileSync(index, 'utf8');
  const updated = page.replace(/(?<=<!-- table: begin -->\n\n).*?(?=\n\n<!-- table: end -->)/s, () =>
    ['| Code | What |', '|---|---|', ...rows].join('\n'),
  );
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(index, updated);
  expect(readFileSync(index, 'utf8')).toBe(updated);
  expect(updated).toContain(rows.join('\n'));
  expect(readdirSync(pages).sort()).toEqual(
    [...Object.keys(DIAGNOSTICS).map((code) => `${code}.md`), 'README.md'].sort(),
  );
});

/** Codes that refuse a type or a field. */
const REFUSALS = /^\S+ (FWGEN0(?:03|04|05|06|17|18|24|25|26|27|28|31|32|34|58)) .*\n {4}(.*)$/gm;

test('every refusal of a type or field shows the accepted form as code that parses', () => {
  const refusals = [...reported.matchAll(REFUSALS)].map(([, code = '', hint = '']) => ({ code, hint }));
  expect(new Set(refusals.map(({ code }) => code)).size).toBe(15);
  for (const { hint } of refusals) {
    const forms = [...hint.matchAll(/`([^`]+)`/g)].map(([, form = '']) => form);
    expect({ hint, hasCode: forms.length > 0 }).toEqual({ hint, hasCode: true });
    expect({ hint, broken: forms.filter((form) => !parses(form)) }).toEqual({ hint, broken: [] });
  }
});

/** Whether a text is a comment tag or valid TypeScript: a statement, a type, a member, a base class, a decorator. */
function parses(form: string): boolean {
  const places = [
    form,
    `type T = ${form};`,
    `class C { ${form} }`,
    `class C ${form} {}`,
    `${form} class C {}`,
  ];
  return /^@\w+( \S+)?$/.test(form) || places.some(isSource);
}

function isSource(text: string): boolean {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { experimentalDecorators: true },
  });
  return diagnostics.length === 0;
}
