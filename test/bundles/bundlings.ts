import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { ShardingInput } from 'fw-actions/config';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = fileURLToPath(new URL('stored-names-main.ts', import.meta.url));
/** Inside the repository and outside of any `node_modules`, where the output finds the packages that it imports. */
const OUTPUT = join(ROOT, 'dist', 'bundles');
const { dependencies } = createRequire(import.meta.url)('../../package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
};
/** The bundlers of the long form, which have a package of their own. */
const peer = createRequire(new URL('peers/package.json', import.meta.url)).resolve;
const OPTIONAL = ['@electric-sql/pglite', 'pg-native', '@nats-io/*', '@platformatic/kafka'];
const EXTERNAL = [...Object.keys(dependencies), ...OPTIONAL];
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** The parts of the peers that are used here; they are not installed when types are checked. */
interface Rolldown {
  rolldown(options: object): Promise<{ write(options: object): Promise<unknown>; close(): Promise<void> }>;
}
interface Swc {
  transformFile(file: string, options: object): Promise<{ readonly code: string }>;
}

/** One way to turn the sources of an application into code that runs. */
export interface Bundling {
  readonly by: 'esbuild' | 'rolldown' | 'swc' | 'tsx';
  readonly minify: boolean;
  /** Whether the names of classes are kept. */
  readonly keepNames: boolean;
  readonly decorators: 'experimental' | 'standard';
  /** Whether the packages are part of the file too, as in docs/operations.md; by esbuild. Default: false. */
  readonly isWhole?: boolean;
}

/**
 * Bundles the examples, runs them, and returns the names that they have stored.
 *
 * @param shards of the wallet and of the booking service
 */
export async function storedNames(bundling: Bundling, shards: readonly ShardingInput[]): Promise<unknown> {
  await mkdir(OUTPUT, { recursive: true });
  const folder = await mkdtemp(join(OUTPUT, `${bundling.by}-`));
  try {
    const args = await WAYS[bundling.by](bundling, folder);
    const env = { ...process.env, FW_BUNDLE_SHARDS: JSON.stringify(shards) };
    const options = { cwd: ROOT, env, timeout: 200_000 };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each writes the code to a folder, and returns the arguments for `node`. */
const WAYS: Readonly<Record<Bundling['by'], (bundling: Bundling, folder: string) => Promise<string[]>>> = {
  esbuild: bundleByEsbuild,
  rolldown: bundleByRolldown,
  swc: transpileBySwc,
  tsx: async ({ decorators }, folder) => {
    const tsconfig = join(folder, 'tsconfig.json');
    const compilerOptions = { target: 'ES2022', experimentalDecorators: decorators === 'experimental' };
    await writeFile(tsconfig, JSON.stringify({ compilerOptions }));
    return [peer('tsx/cli'), '--tsconfig', tsconfig, ENTRY];
  },
};

async function bundleByEsbuild(bundling: Bundling, folder: string): Promise<string[]> {
  const { minify, keepNames, decorators, isWhole = false } = bundling;
  const file = join(folder, 'main.js');
  const external = isWhole ? OPTIONAL : EXTERNAL;
  const experimentalDecorators = decorators === 'experimental';
  await build({
    ...{ entryPoints: [ENTRY], outfile: file, bundle: true, platform: 'node', format: 'esm' },
    ...{
      minify,
      keepNames,
      external,
      banner: isWhole ? { js: BANNER } : {},
      logLevel: 'error',
      target: 'node20',
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators, target: 'ES2022' } },
  });
  return [file];
}

async function bundleByRolldown(bundling: Bundling, folder: string): Promise<string[]> {
  const { minify, keepNames, decorators } = bundling;
  const file = join(folder, 'main.js');
  const { rolldown } = (await import(pathToFileURL(peer('rolldown')).href)) as Rolldown;
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'node',
    external: [...EXTERNAL.filter((name) => !name.includes('*')), /^@nats-io\//],
    tsconfig: false,
    transform: { decorator: { legacy: decorators === 'experimental' } },
  });
  await bundle.write({ file, format: 'esm', minify, keepNames, codeSplitting: false });
  await bundle.close();
  return [file];
}

/** Transpiles file by file. The runtime stays as it is, so that only the classes of the application are renamed. */
async function transpileBySwc(bundling: Bundling, folder: string): Promise<string[]> {
  const { transformFile } = createRequire(import.meta.url)(peer('@swc/core')) as Swc;
  const { minify, keepNames, decorators } = bundling;
  const names = { keep_classnames: keepNames, keep_fnames: keepNames };
  const options = {
    configFile: false,
    swcrc: false,
    minify,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: decorators === 'experimental' ? { legacyDecorator: true } : { decoratorVersion: '2022-03' },
      keepClassNames: keepNames,
      minify: minify ? { mangle: { toplevel: true, ...names }, compress: names, module: true } : {},
    },
    module: { type: 'es6' },
  };
  const files = await readdir(join(ROOT, 'examples'), { recursive: true });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.includes('test'));
  for (const source of [...sources.map((file) => join('examples', file)), relative(ROOT, ENTRY)]) {
    const { code } = await transformFile(join(ROOT, source), options);
    const target = join(folder, source.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
  }
  return [join(folder, relative(ROOT, ENTRY).replace(/\.ts$/, '.js'))];
}
