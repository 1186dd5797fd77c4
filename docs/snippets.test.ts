import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { blocks, type CodeBlock, ROOT } from './pages.js';

/** Stands for lines left out of a quotation. */
const ELISION = '// ...';

const run = promisify(execFile);
const quoted = blocks.flatMap((block) => (block.from === undefined ? [] : [{ ...block, from: block.from }]));
const own = blocks.filter(({ from }) => from === undefined);

/** Code in the documentation is quoted from a file that is compiled and run, or stands here to be compiled itself. */
describe('code in the documentation', () => {
  test.each(quoted)('at $page:$line stands like that in $from', ({ from, code }) => {
    const source = tokensOf(readFileSync(join(ROOT, from), 'utf8'));
    const parts = code.split(ELISION).filter((part) => part.trim() !== '');
    expect(parts.filter((part) => !source.includes(tokensOf(part)))).toEqual([]);
  });

  test('that is not quoted compiles, each block as a file of its own', async () => {
    expect(await compile(own.filter(({ language }) => language === 'ts'))).toBe('');
  }, 180_000);

  test.each(own.filter(({ language }) => language === 'json'))('at $page:$line is JSON', ({ code }) => {
    expect(() => JSON.parse(code) as unknown).not.toThrow();
  });

  test.each(own.filter(({ language }) => language === 'yaml'))('at $page:$line is YAML', ({ code }) => {
    expect(parseDocument(code).errors).toEqual([]);
  });
});

/** The text without what a formatter changes when code stands deeper or less deep: space and trailing commas. */
function tokensOf(code: string): string {
  return code.replaceAll(/\s/g, '').replaceAll(/,(?=[)\]}])/g, '');
}

/** What the compiler says, with the strictness of this repository but for names that an example leaves unused. */
async function compile(examples: readonly CodeBlock[]): Promise<string> {
  const dist = join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  const folder = mkdtempSync(join(dist, 'docs-'));
  try {
    const files = examples.map(({ page, line, code }) => {
      const name = `${page.replaceAll(/\W/g, '-')}-${line}.ts`;
      writeFileSync(join(folder, name), `${code}export {};\n`);
      return name;
    });
    const compilerOptions = {
      isolatedDeclarations: false,
      declaration: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
    };
    const config = { extends: '../../tsconfig.json', compilerOptions, files, include: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const output = await run(process.execPath, [tsc, '-p', folder]).then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string }) => error.stdout,
    );
    // Mistakes in the sources that the examples import are reported by the type check of the repository.
    const lines = output.split('\n').filter((line) => !/^(runtime|generator|examples|test)\//.test(line));
    return lines.join('\n').trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
