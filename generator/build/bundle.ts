import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputOptions, rolldown } from 'rolldown';

/**
 * A build step: bundles the own modules of `fw-gen generate` into a few files, because Node.js takes longer to find and
 * load a hundred small files than to run them. Packages and the other commands are loaded separately.
 */
const generator = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(generator, 'bundle');
/**
 * Names that are taken out of CommonJS packages by `require`: `import` would first search their megabytes for the form
 * of the module and for exported names, which takes a tenth of a run.
 */
const REQUIRED: Readonly<Record<string, string>> = { 'ts-morph': 'ts', '@ts-morph/common': 'getLibFiles' };
for (const each of [folder, join(generator, 'compiled')]) rmSync(each, { recursive: true, force: true });
await bundle('main.js', { dir: folder, format: 'esm', chunkFileNames: '[name].js' });

async function bundle(entry: string, output: OutputOptions): Promise<void> {
  const build = await rolldown({
    input: join(generator, '../cli', entry),
    platform: 'node',
    // The other commands share classes with the runtime that users import, so there must be one copy of each.
    external: (id, _importer, isResolved) =>
      /(^|[\\/])run-process\.js$/.test(id) || (!isResolved && /^[^./]/.test(id) && !(id in REQUIRED)),
    plugins: [
      {
        name: 'require',
        resolveId: (id) => (id in REQUIRED ? `\0${id}` : undefined),
        load: (id) => {
          const name = REQUIRED[id.slice(1)];
          if (name === undefined) return undefined;
          return `import { createRequire } from 'node:module';
export const { ${name} } = createRequire(import.meta.url)('${id.slice(1)}');`;
        },
      },
    ],
  });
  await build.write({
    ...output,
    paths: (id) => (id.endsWith('run-process.js') ? '../../cli/run-process.js' : id),
  });
  await build.close();
}
