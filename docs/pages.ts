import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** One page of the documentation. */
export interface DocumentationPage {
  /** From the root: `docs/http.md`. */
  readonly path: string;
  readonly text: string;
}

/** One fenced block of code. */
export interface CodeBlock {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** `ts`, `json`, `console`... */
  readonly language: string;
  readonly code: string;
  /** The file that `<!-- from path -->` right above the block says it is taken from. */
  readonly from: string | undefined;
}

const BLOCK = /(?:^<!-- from (\S+) -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm;

/** Everything that users read: the pages at the root and those below docs/ and examples/. */
export const pages: readonly DocumentationPage[] = [
  ...readdirSync(ROOT),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => `docs/${String(name)}`),
  ...readdirSync(join(ROOT, 'examples'), { recursive: true }).map((name) => `examples/${String(name)}`),
]
  .filter((path) => path.endsWith('.md'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** All blocks of code, page by page. */
export const blocks: readonly CodeBlock[] = pages.flatMap(blocksOf);

function blocksOf({ path, text }: DocumentationPage): readonly CodeBlock[] {
  return [...text.matchAll(BLOCK)].map(({ 0: whole, 1: from, 2: language = '', 3: code = '', index }) => ({
    page: path,
    line: text.slice(0, index + whole.indexOf('```')).split('\n').length,
    language,
    code,
    from,
  }));
}
