import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The built package, for tests that need a separate process. */
export interface BuiltProgram {
  /** `bin/fw-gen.js` of the built package. */
  readonly bin: string;
  /** Folder of the built package. */
  readonly root: string;
  delete(): void;
}

/** Builds the package from the current sources into a new folder. */
export function buildProgram(): BuiltProgram {
  const root = mkdtempSync(join(tmpdir(), 'fw-built-'));
  for (const name of ['package.json', 'bin', 'templates']) {
    cpSync(join(repository, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const flags = ['-p', join(repository, 'tsconfig.build.json'), '--outDir', join(root, 'dist')];
  node([tsc, ...flags, '--noCheck', '--declaration', 'false', '--isolatedDeclarations', 'false']);
  node([join(root, 'dist/generator/emit/precompile.js')]);
  node([join(root, 'dist/generator/build/bundle.js')]);
  return {
    bin: join(root, 'bin/fw-gen.js'),
    root,
    delete: () => rmSync(root, { recursive: true, force: true }),
  };
}

function node(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout + stderr);
}
