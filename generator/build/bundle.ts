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
for (const each of [folder, join(generator, 'compiled')]) rmSync(each, { recursive: true, force: true });
await bundle('main.js', { dir: folder, format: 'esm', chunkFileNames: '[name].js' });

async function bundle(entry: string, output: OutputOptions): Promise<void> {
  const build = await rolldown({
    input: join(generator, '../cli', entry),
    platform: 'node',
    // The other commands share classes with the runtime that users import, so there must be one copy of each.
    external: (id, _importer, isResolved) =>
      /(^|[\\/])run-process\.js$/.test(id) || (!isResolved && /^[^./]/.test(id)),
  });
  await build.write({
    ...output,
    paths: (id) => (id.endsWith('run-process.js') ? '../../cli/run-process.js' : id),
  });
  await build.close();
}
