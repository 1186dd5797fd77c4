import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { generate } from './generate.js';
import { type CompileRequest, compilerComplaints, emitDeclarations } from './test-support/compiler.js';
import { foldersOf } from './test-support/golden-case.js';

const repository = fileURLToPath(new URL('..', import.meta.url));
const workshop = temporaryFolder();

beforeAll(async () => {
  emitDeclarations(join(workshop, 'declarations'));
  const golden = join(repository, 'generator/golden');
  for (const name of readdirSync(golden)) {
    if (!existsSync(join(golden, name, 'expected'))) continue;
    const project = join(workshop, 'cases', name);
    cpSync(join(golden, name, 'input'), project, { recursive: true });
    const { diagnostics } = await generate(foldersOf(join(golden, name), project));
    expect(diagnostics).toEqual([]);
  }
  const isApplication = (path: string): boolean => !/(\.test|\.test-d)\.ts$|test-support|tsconfig/.test(path);
  cpSync(join(repository, 'examples/wallet'), join(workshop, 'cases/wallet'), {
    recursive: true,
    filter: isApplication,
  });
  symlinkSync(join(repository, 'node_modules'), join(workshop, 'node_modules'));
}, 60_000);

/** Each pair of choices occurs in one row. Without `npm run proof:types`, each compiler and each choice occurs in one. */
const ROWS: readonly Pick<CompileRequest, 'compiler' | 'module' | 'experimentalDecorators'>[] = [
  { compiler: 'typescript-5.9', module: 'NodeNext', experimentalDecorators: true },
  { compiler: 'typescript-5.9', module: 'bundler', experimentalDecorators: false },
  { compiler: 'typescript-6', module: 'NodeNext', experimentalDecorators: false },
  { compiler: 'typescript-6', module: 'bundler', experimentalDecorators: true },
  { compiler: 'typescript', module: 'NodeNext', experimentalDecorators: true },
  { compiler: 'typescript', module: 'bundler', experimentalDecorators: false },
];
const MATRIX = ROWS.filter(
  (_, row) => process.env['FW_PROOF_TYPES'] !== undefined || [0, 2, 5].includes(row),
);

test.each(MATRIX)(
  'the wallet and the golden cases compile: $compiler, $module, experimentalDecorators $experimentalDecorators',
  (choice) => {
    const request = {
      ...choice,
      isolatedDeclarations: true,
      folder: join(workshop, 'cases'),
      declarations: join(workshop, 'declarations'),
    };
    expect(compilerComplaints(request).filter((line) => !isInferredExport(line))).toEqual([]);
  },
  120_000,
);

/** Whether a source, not emitted code, exports a value without its type, as a schema is written. */
function isInferredExport(complaint: string): boolean {
  return /error TS90\d\d:/.test(complaint) && !/[/](generated|migrations)[/]/.test(complaint);
}
