import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = fileURLToPath(new URL('stored-names-main.ts', import.meta.url));
const { dependencies } = createRequire(import.meta.url)('../../package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const EXTERNAL = [...Object.keys(dependencies), '@electric-sql/pglite', '@nats-io/*', '@platformatic/kafka'];

/** One way to bundle an application. */
export interface Bundling {
  readonly by: 'esbuild' | 'rolldown';
  readonly minify: boolean;
  /** Whether the bundler keeps the names of classes. */
  readonly keepNames: boolean;
  readonly decorators: 'experimental' | 'standard';
}

/** Bundles the wallet together with the built runtime, runs it, and returns the names that it has stored. */
export async function storedNames(bundling: Bundling): Promise<unknown> {
  // Inside the repository, where the bundle finds the packages that it does not contain.
  const cache = join(ROOT, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'bundle-'));
  const file = join(folder, 'main.mjs');
  try {
    await (bundling.by === 'esbuild' ? bundleByEsbuild(bundling, file) : bundleByRolldown(bundling, file));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 100_000 });
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundleByEsbuild({ minify, keepNames, decorators }: Bundling, file: string): Promise<void> {
  const experimentalDecorators = decorators === 'experimental';
  await build({
    ...{ entryPoints: [ENTRY], outfile: file, bundle: true, platform: 'node', format: 'esm' },
    ...{ minify, keepNames, external: EXTERNAL, logLevel: 'error', target: 'node20' },
    tsconfigRaw: { compilerOptions: { experimentalDecorators, target: 'ES2022' } },
  });
}

async function bundleByRolldown({ minify, keepNames, decorators }: Bundling, file: string): Promise<void> {
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'node',
    external: EXTERNAL,
    tsconfig: false,
    transform: { decorator: { legacy: decorators === 'experimental' } },
  });
  await bundle.write({ file, format: 'esm', minify, keepNames, codeSplitting: false });
  await bundle.close();
}
