import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const repository = join(import.meta.dirname, '..', '..', '..');

/** A test program that plain Node.js can run. */
export interface CompiledProgram {
  readonly path: string;
  /** Deletes the compiled files. */
  remove(): void;
}

/** Compiles a source file of `runtime/` with all its imports. @param source absolute path */
export function compileProgram(source: string): CompiledProgram {
  const root = mkdtempSync(join(tmpdir(), 'fw-program-'));
  const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = {
    module: 'nodenext',
    target: 'es2022',
    lib: 'es2023',
    types: 'node',
    rootDir: repository,
    outDir: root,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const result = spawnSync(
    process.execPath,
    [tsc, source, ...flags, '--skipLibCheck', '--noCheck', '--experimentalDecorators', '--ignoreConfig'],
    { cwd: repository, encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(result.stdout + result.stderr);
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  const path = join(root, relative(repository, source)).replace(/\.ts$/, '.js');
  return { path, remove: () => rmSync(root, { recursive: true, force: true }) };
}
