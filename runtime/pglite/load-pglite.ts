import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PackageMissingError } from '../errors.js';

export type PgliteModule = typeof import('@electric-sql/pglite');

const PACKAGE = '@electric-sql/pglite';
/** What this package is tested with, as its own `package.json` has it. */
export const PGLITE_VERSION = '0.5.16';

/**
 * Fails unless the embedded database is installed. It is the application's own development dependency: an image that
 * runs on PostgreSQL servers does without its 27 MB. It is no optional peer, because npm installs an optional peer that
 * is also a development dependency under `--omit=dev`, too.
 *
 * @param what needs it: the subject of the message
 * @throws PackageMissingError
 */
export function requirePglite(what: string): void {
  if (pathFrom(import.meta.url) === undefined && pathFrom(applicationFolder()) === undefined)
    throw new PackageMissingError(what, PACKAGE, PGLITE_VERSION);
}

/** Loads it from beside this package, or else from the folder of the application. @throws PackageMissingError */
export async function loadPglite(): Promise<PgliteModule> {
  requirePglite('The embedded database');
  if (pathFrom(import.meta.url) !== undefined) return import('@electric-sql/pglite');
  // A package manager that isolates packages shows this one to the application alone.
  const found: PgliteModule & { readonly default?: PgliteModule } = await import(
    pathToFileURL(pathFrom(applicationFolder()) ?? '').href
  );
  return found.default ?? found;
}

function applicationFolder(): string {
  return join(process.cwd(), 'package.json');
}

function pathFrom(place: string): string | undefined {
  try {
    return createRequire(place).resolve(PACKAGE);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
