import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { PRECOMPILED_NAME } from '../emit/built-parts.js';

const PROGRAM = /(^|[\\/])run-process\.js$/;
/** Packages of many files that are made part of the bundle, with their licenses. */
const INCLUDED: readonly string[] = ['yaml', 'handlebars/runtime'];
/** What is loaded when it is first asked for becomes part of the bundle, and is still run no sooner. */
const BUILT_PARTS: Plugin = {
  name: 'built-parts',
  load: {
    filter: { id: /emit[\\/]built-parts\.js$/ },
    handler: () =>
      "export const loadRuntime = () => require('handlebars/runtime');" +
      `export const loadPrecompiled = () => require('./${PRECOMPILED_NAME}');`,
  },
};

/**
 * Puts what `fw-gen generate` loads into few files, because Node.js takes longer to find and load a hundred small ones
 * than to run them. Everything else, packages of others included, is loaded as it was.
 *
 * @param generator folder of the built generator @param folder of the bundle
 */
export async function bundleProgram(generator: string, folder: string): Promise<void> {
  await bundle(join(generator, 'cli/main.js'), { dir: folder, format: 'esm', chunkFileNames: '[name].js' });
  // One module, of the kind whose compiled code can be kept.
  await bundle(join(generator, 'cli/generate-process.js'), {
    dir: folder,
    format: 'cjs',
    entryFileNames: 'generate.cjs',
    codeSplitting: false,
    comments: { legal: true, annotation: false, jsdoc: false },
    banner: INCLUDED.map(licenseComment).join(''),
  });
}

async function bundle(input: string, output: OutputOptions): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    plugins: [BUILT_PARTS],
    // The other commands share classes with the runtime that users import: there must be one of each.
    external: (id, _importer, isResolved) =>
      PROGRAM.test(id) || (!isResolved && /^[^./]/.test(id) && !INCLUDED.includes(id)),
  });
  await build.write({
    ...output,
    paths: (id) => (PROGRAM.test(id) ? '../cli/run-process.js' : id),
  });
  await build.close();
}

function licenseComment(id: string): string {
  const [name = ''] = id.split('/');
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const text = readFileSync(join(dirname(file), 'LICENSE'), 'utf8');
  return `/*! This file includes ${name}:\n\n${text.replaceAll('*/', '* /')}*/\n`;
}
