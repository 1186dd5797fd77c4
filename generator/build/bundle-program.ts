import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { HANDLEBARS_NAME, PRECOMPILED_NAME } from '../emit/built-parts.js';

const PROGRAM = /(^|[\\/])run-process\.js$/;
const HANDLEBARS = /(^|[\\/])handlebars\.cjs$/;
const COMMENTS = { legal: true, annotation: false, jsdoc: false };
/** Packages of many files that are bundled, with their licenses. */
const INCLUDED: readonly string[] = ['yaml', 'handlebars/runtime'];
/** Modules that are loaded on demand are bundled too, but run only when they are needed. */
const BUILT_PARTS: Plugin = {
  name: 'built-parts',
  load: {
    filter: { id: /emit[\\/]built-parts\.js$/ },
    handler: () =>
      "export const loadRuntime = () => require('handlebars/runtime');" +
      `export const loadHandlebars = () => require('../bundle/${HANDLEBARS_NAME}');` +
      `export const loadPrecompiled = () => require('./${PRECOMPILED_NAME}');`,
  },
};

/**
 * Bundles the modules of `fw-gen generate` into a few files, because Node.js takes longer to find and load a hundred
 * small files than to run them. Other modules and packages are loaded separately.
 *
 * @param generator folder of the built generator
 * @param folder of the bundle
 */
export async function bundleProgram(generator: string, folder: string): Promise<void> {
  await bundlePackages(generator, folder);
  await bundle(join(generator, 'cli/main.js'), { dir: folder, format: 'esm', chunkFileNames: '[name].js' });
  // One CommonJS module, whose compiled code Node.js can cache.
  await bundle(join(generator, 'cli/generate-process.js'), {
    dir: folder,
    format: 'cjs',
    entryFileNames: 'generate.cjs',
    codeSplitting: false,
    comments: COMMENTS,
    banner: INCLUDED.map(licenseComment).join(''),
  });
}

/**
 * Bundles packages that `fw-gen` needs and applications do not, one file each, so that applications need not install
 * them.
 */
async function bundlePackages(generator: string, folder: string): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  await bundlePackage('handlebars', resolve('handlebars/dist/cjs/handlebars.js'), {
    file: join(folder, HANDLEBARS_NAME),
    format: 'cjs',
  });
  // The command line is loaded file by file: its module for this package is replaced by the bundled package.
  const module = join(generator, 'cli/commander.js');
  await bundlePackage('commander', module, { file: module, format: 'esm' });
}

async function bundlePackage(name: string, input: string, output: OutputOptions): Promise<void> {
  const build = await rolldown({ input, platform: 'node' });
  await build.write({ ...output, codeSplitting: false, comments: COMMENTS, banner: licenseComment(name) });
  await build.close();
}

async function bundle(input: string, output: OutputOptions): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    plugins: [BUILT_PARTS],
    // The other commands share classes with the runtime that users import, so there must be one copy of each.
    external: (id, _importer, isResolved) =>
      PROGRAM.test(id) || HANDLEBARS.test(id) || (!isResolved && /^[^./]/.test(id) && !INCLUDED.includes(id)),
  });
  await build.write({
    ...output,
    paths: (id) =>
      PROGRAM.test(id) ? '../cli/run-process.js' : HANDLEBARS.test(id) ? `./${HANDLEBARS_NAME}` : id,
  });
  await build.close();
}

function licenseComment(id: string): string {
  const [name = ''] = id.split('/');
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => join(folder, name, 'LICENSE')).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`The package ${name} has no file LICENSE`);
  const text = readFileSync(file, 'utf8');
  return `/*! This file includes ${name}:\n\n${text.replaceAll('*/', '* /')}*/\n`;
}
