import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DIAGNOSTICS } from '../generator/diagnostics.js';
import { didYouMean } from '../runtime/config/suggest.js';
import { InputError } from './input-error.js';

const CODE = /^(FWGEN\d+|(FW|HTTP)_[A-Z_]+)$/;

/** Whether this is a code of a diagnostic or of an error, rather than a file. */
export function isCode(text: string): boolean {
  return CODE.test(text.toUpperCase());
}

/** The text about a code in the package's pages. @throws InputError for an unknown code */
export function explainCode(text: string): string {
  const code = text.toUpperCase();
  return code.startsWith('FWGEN') ? diagnosticPage(code) : errorSection(code);
}

function diagnosticPage(code: string): string {
  const codes = Object.keys(DIAGNOSTICS);
  if (!codes.includes(code)) throw unknown(code, codes);
  return page(`diagnostics/${code}.md`);
}

function errorSection(code: string): string {
  const sections = page('errors.md')
    // Codes of the HTTP layer are rows of a table: code, status, when.
    .replaceAll(/^\| `(HTTP_\w+)` \| (\d+) \| (.*) \|$/gm, '### $1\n\nHTTP $2: $3\n')
    .split(/^(?=##+ )/m)
    .filter((section) => section.startsWith('### '));
  const found = sections.find((section) => section.startsWith(`### ${code}\n`));
  if (found !== undefined) return found.replace(/^### /, '# ').trimEnd();
  const codes = sections.map((section) => section.slice('### '.length, section.indexOf('\n')));
  throw unknown(code, codes);
}

function unknown(code: string, codes: readonly string[]): InputError {
  const suggestion = didYouMean(code, codes);
  return new InputError(`Code ${code} does not exist${suggestion === undefined ? '.' : `: ${suggestion}`}`);
}

function page(name: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve('fw-actions/package.json'));
  return readFileSync(join(folder, 'docs', name), 'utf8').trimEnd();
}
