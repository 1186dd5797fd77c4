import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { DIAGNOSTICS, formatDiagnostic } from './diagnostics.js';
import { type GenerateResult, generate } from './generate.js';
import { describeApi } from './openapi.js';
import { compilerComplaints, emitDeclarations } from './test-support/compiler.js';
import { linkPackages } from './test-support/emitted-cases.js';
import { foldersOf, optionsOf } from './test-support/golden-case.js';

/**
 * Each case is a project: `input/` is read, and the result must equal `expected/` and `diagnostics.txt`. The output is
 * compiled as a whole, also where `expected/` has only the files that the case is about.
 */
const root = fileURLToPath(new URL('.', import.meta.url));
const cases = readdirSync(join(root, 'golden')).sort();
const isUpdate = process.env['UPDATE_GOLDEN'] === '1';

const workshop = temporaryFolder();
let declarations = '';

beforeAll(() => linkPackages(workshop));

describe('golden cases', () => {
  test.each(cases)('%s', async (name) => {
    const folder = join(root, 'golden', name);
    const project = join(workshop, existsSync(join(folder, 'expected')) ? 'cases' : 'refused', name);
    cpSync(join(folder, 'input'), project, { recursive: true });
    const before = filesBelow(project);
    const result = await generate({ ...foldersOf(folder, project), title: name });
    const document = result.diagnostics.length > 0 ? {} : await documentOf(folder, project);
    const written = shown(folder, { ...changedFiles(before, filesBelow(project)), ...document });
    if (isUpdate) update(folder, result, written);
    expect(diagnosticsText(result)).toBe(readText(join(folder, 'diagnostics.txt')));
    expect(written).toEqual(filesBelow(join(folder, 'expected')));
  });

  test('every diagnostic has a case', () => {
    const reported = cases.map((name) => readText(join(root, 'golden', name, 'diagnostics.txt'))).join('\n');
    expect(Object.keys(DIAGNOSTICS).filter((code) => !reported.includes(code))).toEqual([]);
  });

  test('all expected output compiles under the strictest flags', () => {
    expect(compile('cases')).toEqual([]);
  });

  test('an upcaster that does not fit the lock does not compile', () => {
    const folder = join(workshop, 'wrong-upcasters');
    cpSync(join(workshop, 'cases/params-lock'), folder, { recursive: true });
    const file = join(folder, 'actions.ts');
    const text = readText(file);
    const right = '({ bill, cents }) => ({ bill, amount: String(cents / 100)';
    expect(text).toContain(right);
    writeFileSync(file, text.replace(right, '({ bill, pesos }) => ({ bill, sum: pesos'));
    const complaints = compile('wrong-upcasters').join('\n');
    expect(complaints).toContain("Property 'pesos' does not exist on type 'BillChargeActionParamsV1'");
    writeFileSync(file, text.replace(right, '({ bill, cents }) => ({ bill, sum: String(cents / 100)'));
    expect(compile('wrong-upcasters').join('\n')).toContain('BillChargeActionParamsV2');
    const anything = 'readonly ((stored: JsonObject) => JsonObject)[]';
    const untyped = text.replace('upcasters: BillChargeActionParamsUpcasters', `upcasters: ${anything}`);
    writeFileSync(
      file,
      `import type { JsonObject } from 'fw-actions/codegen';\n${untyped.replace('cents / 100', 'Number(cents)')}`,
    );
    expect(compile('wrong-upcasters').join('\n')).toContain('generated/bill.part.ts');
  });
});

/** The output of `fw-gen openapi`. */
async function documentOf(folder: string, project: string): Promise<Readonly<Record<string, string>>> {
  const described = await describeApi({ ...foldersOf(folder, project), title: basename(folder) });
  return 'document' in described ? { 'openapi.json': `${described.text}\n` } : {};
}

function diagnosticsText({ diagnostics }: GenerateResult): string {
  return diagnostics.map((each) => `${formatDiagnostic(each)}\n`).join('');
}

function shown(folder: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const pattern = new RegExp(`^(${optionsOf(folder).shows ?? '.*'})$`);
  return Object.fromEntries(Object.entries(files).filter(([path]) => pattern.test(path)));
}

function update(folder: string, result: GenerateResult, written: Readonly<Record<string, string>>): void {
  rmSync(join(folder, 'expected'), { recursive: true, force: true });
  rmSync(join(folder, 'diagnostics.txt'), { force: true });
  if (result.diagnostics.length > 0) writeFileSync(join(folder, 'diagnostics.txt'), diagnosticsText(result));
  for (const [path, text] of Object.entries(written)) {
    mkdirSync(dirname(join(folder, 'expected', path)), { recursive: true });
    writeFileSync(join(folder, 'expected', path), text);
  }
}

function changedFiles(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(after).filter(([path, text]) => before[path] !== text));
}

function filesBelow(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readText(path)]));
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Compiles a folder of the workshop. Emitted code has only erasable and declared types, sources may have others. */
function compile(folder: string): readonly string[] {
  declarations ||= emitDeclarations(join(workshop, 'declarations'));
  const complaints = compilerComplaints({
    folder: join(workshop, folder),
    declarations,
    compiler: 'typescript',
    module: 'NodeNext',
    experimentalDecorators: true,
    isolatedDeclarations: true,
    erasableSyntaxOnly: true,
  });
  return complaints.filter(
    (line) => !/TS(1294|90\d\d)/.test(line) || /(^|[/])(generated|migrations)[/]/.test(line),
  );
}
