import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const DOCS = dirname(fileURLToPath(import.meta.url));
const ROOT = join(DOCS, '..');

/** `<!-- from path/of/source.ts -->` right above a code block says which file, compiled and run, it is taken from. */
const QUOTED_BLOCK = /<!-- from (\S+) -->\n```\w+\n([\s\S]*?)```/g;
const TS_BLOCK = /^```ts$/gm;
/** Stands for lines left out. */
const ELISION = '// ...';

/** Pages whose every TypeScript block is quoted. */
const QUOTING_PAGES = ['testing.md'];

interface Snippet {
  readonly page: string;
  readonly path: string;
  readonly code: string;
}

const snippets = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) => snippetsOf(page, readFileSync(join(DOCS, page), 'utf8')));

describe('code in the documentation', () => {
  test.each(snippets)('in $page stands like that in $path', ({ path, code }) => {
    const source = tokensOf(readFileSync(join(ROOT, path), 'utf8'));
    const parts = code.split(ELISION).filter((part) => part.trim() !== '');
    expect(parts.filter((part) => !source.includes(tokensOf(part)))).toEqual([]);
  });

  test.each(QUOTING_PAGES)('in %s is all taken from somewhere', (page) => {
    const blocks = readFileSync(join(DOCS, page), 'utf8').match(TS_BLOCK) ?? [];
    expect(snippets.filter((snippet) => snippet.page === page)).toHaveLength(blocks.length);
  });
});

function snippetsOf(page: string, text: string): readonly Snippet[] {
  return [...text.matchAll(QUOTED_BLOCK)].map(([, path = '', code = '']) => ({ page, path, code }));
}

/** The text without what a formatter changes when code stands deeper or less deep: space and trailing commas. */
function tokensOf(code: string): string {
  return code.replaceAll(/\s/g, '').replaceAll(/,(?=[)\]}])/g, '');
}
