import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { fw } from './catalogue.js';
import type { Key } from './key.js';
import { camelCase, kebabCase } from './key-names.js';
import { errorOf, parse } from './test-support/configs.js';
import { keyRows, renderKeyTable } from './test-support/key-table.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/configuration.md', import.meta.url)), 'utf8');

/** The fenced blocks of one language, in order. */
function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  );
}

test('the key tables of the page are those rendered from the catalogue, 25 keys first', async () => {
  const tables = [renderKeyTable(true), renderKeyTable(false)];
  const rendered = page.replace(
    /(?<=<!-- key table: begin -->\n\n).*?(?=\n\n<!-- key table: end -->)/gs,
    () => tables.shift() ?? '',
  );
  expect(tables).toEqual([]);
  await expect(rendered).toMatchFileSnapshot('../../docs/configuration.md');
  expect(keyRows().filter(({ main }) => main)).toHaveLength(25);
});

test('the page’s complete configurations are accepted, and the invalid one gives the problems shown', () => {
  const complete = blocks('yaml').filter((text) => text.startsWith('fw:'));
  const [broken = '', ...valid] = [...complete].reverse();
  expect(valid.length).toBeGreaterThan(0);
  for (const text of valid) expect(() => parse(text, { env: { DB_PASSWORD: 'x' } })).not.toThrow();
  const [shown = ''] = blocks('text').slice(-1);
  expect(`${errorOf(() => parse(broken, { file: 'fw.config.yaml' })).message}\n`).toBe(shown);
});

test('every key has a valid name, a description, and a default that its schema accepts', () => {
  const ajv = new Ajv2020({ strict: false });
  const visit = (name: string, { doc, schema, shape, default: fallback }: Key<unknown>): void => {
    expect(camelCase(kebabCase(name))).toBe(name);
    expect(doc).toMatch(/\S\.$/);
    const reference = { $defs: { reference: { type: 'string', pattern: '[$]' } } };
    if (fallback !== undefined && !Array.isArray(fallback))
      expect(ajv.validate({ ...schema, ...reference }, fallback)).toBe(true);
    for (const [child, key] of Object.entries(shape?.keys ?? {})) visit(child, key);
  };
  visit('fw', fw);
});
