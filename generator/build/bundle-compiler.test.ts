import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts as whole } from 'ts-morph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltProgram, buildProgram } from '../test-support/built-program.js';
import { chooserFrom } from '../test-support/source-edits.js';

const generator = fileURLToPath(new URL('..', import.meta.url));
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const BROKEN = 200;
let program: BuiltProgram;
let part: typeof whole;

beforeAll(() => {
  program = buildProgram();
  part = createRequire(import.meta.url)(join(program.root, 'dist/generator/bundle/compiler.cjs'));
}, 120_000);

afterAll(() => program.delete());

const texts = readdirSync(generator, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()
  .map((name) => readFileSync(join(generator, name), 'utf8'));

interface Findings {
  readonly parseDiagnostics?: readonly whole.DiagnosticWithLocation[];
}

/** Prints the syntax tree and errors of one compiler for a text, one line per node. */
function treeBy(compiler: typeof whole, text: string): string {
  const source: whole.SourceFile & Findings = compiler.createSourceFile(
    'a.ts',
    text,
    whole.ScriptTarget.Latest,
    true,
  );
  const lines = (source.parseDiagnostics ?? []).map(
    ({ code, start, length, messageText }) => `${code} ${start} ${length} ${JSON.stringify(messageText)}`,
  );
  const visit = (node: whole.Node): void => {
    const { kind, pos, end, flags } = node;
    lines.push(`${kind} ${pos} ${end} ${flags} ${node.getStart()} ${node.getText().length}`);
    compiler.forEachChild(node, visit);
  };
  visit(source);
  return lines.join('\n');
}

test('the bundled part of the compiler gives the same trees as the whole', () => {
  for (const text of texts) expect(treeBy(part, text)).toBe(treeBy(whole, text));
}, 60_000);

test(`it gives the same trees and complaints for ${BROKEN} broken texts (FUZZ_SEED=${seed})`, () => {
  const choose = chooserFrom(seed);
  for (let count = 0; count < BROKEN; count += 1) {
    const text = texts[choose(texts.length)] ?? '';
    const at = choose(text.length + 1);
    const marks = ['{', '}', '`', '/*', '@', '<', '(', '"', '\0', ' class '];
    const broken = `${text.slice(0, at)}${marks[choose(marks.length)]}${text.slice(at + choose(40))}`;
    expect(treeBy(part, broken)).toBe(treeBy(whole, broken));
  }
}, 60_000);

test('the bundled part is small', () => {
  const kept = readFileSync(join(program.root, 'dist/generator/bundle/compiler.cjs')).length;
  expect(kept).toBeLessThan(3_000_000);
});
