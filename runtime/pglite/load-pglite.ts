import { type OptionalPackage, pathInApplication, requirePackage } from '../optional-package.js';

export type PgliteModule = typeof import('@electric-sql/pglite');

/** The version with which this package is tested, equal to that in its `package.json`. */
export const PGLITE_VERSION = '0.5.16';

const PGLITE: OptionalPackage = { name: '@electric-sql/pglite', version: PGLITE_VERSION };

/**
 * Checks that the embedded database is installed. It is the application's own development dependency, so that an image
 * for PostgreSQL servers does not contain its 27 MB. It is not an optional peer, because npm installs an optional peer
 * that is also a development dependency even with `--omit=dev`.
 *
 * @param what the feature that needs the package, the subject of the message
 * @throws PackageMissingError
 */
export function requirePglite(what: string): void {
  requirePackage(what, PGLITE);
}

/** Loads the package from next to this one, or else from the application's folder. @throws PackageMissingError */
export async function loadPglite(): Promise<PgliteModule> {
  requirePglite('The embedded database');
  const path = pathInApplication(PGLITE);
  if (path === undefined) return import('@electric-sql/pglite');
  const found: PgliteModule & { readonly default?: PgliteModule } = await import(path);
  return found.default ?? found;
}
