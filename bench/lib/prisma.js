import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const CLIENT = new URL('../.generated/prisma/index.js', import.meta.url);

/**
 * Generates Prisma's client unless it exists. Prisma's command would download an engine for migrations, which
 * generating does not need; the path of any program prevents that.
 *
 * @returns why there is no client, or undefined
 */
export function generatePrisma() {
  if (existsSync(CLIENT)) return undefined;
  const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const run = spawnSync(process.execPath, [cli, 'generate', '--schema', 'prisma/schema.prisma'], {
    cwd: FOLDER,
    env,
    encoding: 'utf8',
  });
  return run.status === 0 ? undefined : `prisma generate failed: ${run.stderr}`;
}
