import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkSchema } from '../check/check-schema.js';
import type { Diagnostic } from '../diagnostics.js';
import { emitProject } from '../emit/emit-project.js';
import { readProject } from '../read/read-project.js';
import type { SourceFiles } from '../read/source-files.js';
import { type CompileRequest, compilerComplaints } from './compiler.js';

const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** What is emitted for a project whose sources are in its own folder, by path, or its mistakes. */
export function emittedFor(
  folder: string,
  sources?: SourceFiles,
): { readonly problems: readonly Diagnostic[]; readonly files: ReadonlyMap<string, string> } {
  const paths = { source: '', output: 'generated', migrations: 'migrations' };
  const { schema, diagnostics } = readProject(folder, paths, sources);
  const problems = [...diagnostics, ...checkSchema(schema)];
  if (problems.length > 0) return { problems, files: new Map() };
  const { generated, migrations } = emitProject({
    schema,
    paths,
    title: 'case',
    version: '1',
    now: new Date(),
  });
  return { problems, files: new Map([...generated, ...migrations]) };
}

/** Writes texts by path below a folder. */
export function writeBelow(folder: string, files: Iterable<readonly [path: string, text: string]>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Lets sources below a folder import packages of this repository. */
export function linkPackages(folder: string): void {
  symlinkSync(nodeModules, join(folder, 'node_modules'));
}

/**
 * Compiles cases, each in a folder with its number.
 *
 * @returns the first error of each case whose source compiles and whose emitted code does not
 */
export function brokenCases(
  folder: string,
  declarations: string,
  compiler: CompileRequest['compiler'] = 'typescript',
): readonly string[] {
  const complaints = compilerComplaints({
    folder,
    declarations,
    compiler,
    module: 'NodeNext',
    experimentalDecorators: true,
    isolatedDeclarations: false,
  });
  const isEmitted = (line: string): boolean => /^\d+\/(generated|migrations)\//.test(line);
  const byCase = new Map(complaints.toReversed().map((line) => [line.split('/', 1)[0], line]));
  for (const line of complaints) if (!isEmitted(line)) byCase.delete(line.split('/', 1)[0]);
  return [...byCase.values()];
}
