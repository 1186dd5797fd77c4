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

/** Copies the package, which `npm run build` has built, into a new folder. */
export function copyProgram(): BuiltProgram {
  const root = mkdtempSync(join(tmpdir(), 'fw-built-'));
  const parts = ['package.json', 'bin', 'templates', 'dist/cli', 'dist/generator', 'dist/runtime'];
  for (const name of parts) cpSync(join(repository, name), join(root, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  return {
    bin: join(root, 'bin/fw-gen.js'),
    root,
    delete: () => rmSync(root, { recursive: true, force: true }),
  };
}
