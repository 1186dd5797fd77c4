import { type OptionalPackage, pathInApplication, requirePackage } from '../optional-package.js';

export type PgliteModule = typeof import('@electric-sql/pglite');

/** What this package is tested with, as its own `package.json` has it. */
export const PGLITE_VERSION = '0.5.16';

const PGLITE: OptionalPackage = { name: '@electric-sql/pglite', version: PGLITE_VERSION };

/**
 * Fails unless the embedded database is installed. It is the application's own development dependency: an image that
 * runs on PostgreSQL servers does without its 27 MB. It is no optional peer, because npm installs an optional peer that
 * is also a development dependency under `--omit=dev`, too.
 *
 * @param what needs it: the subject of the message
 * @throws PackageMissingError
 */
export function requirePglite(what: string): void {
  requirePackage(what, PGLITE);
}

/** Loads it from beside this package, or else from the folder of the application. @throws PackageMissingError */
export async function loadPglite(): Promise<PgliteModule> {
  requirePglite('The embedded database');
  const path = pathInApplication(PGLITE);
  if (path === undefined) return import('@electric-sql/pglite');
  const found: PgliteModule & { readonly default?: PgliteModule } = await import(path);
  return found.default ?? found;
}
