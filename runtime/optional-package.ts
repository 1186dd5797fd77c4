import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PackageMissingError } from './errors.js';

/** A package that the application installs if needed. */
export interface OptionalPackage {
  readonly name: string;
  /** The version with which this package is tested, equal to that in its `package.json`. */
  readonly version: string;
}

/** @param what the feature that needs the package, the subject of the message @throws PackageMissingError */
export function requirePackage(what: string, { name, version }: OptionalPackage): void {
  if (pathFrom(import.meta.url, name) === undefined && pathFrom(applicationFolder(), name) === undefined)
    throw new PackageMissingError(what, name, version);
}

/**
 * The path of a package that is not installed next to this one: a package manager that isolates packages makes it
 * visible only to the application. Undefined: `import` finds it by its name.
 */
export function pathInApplication({ name }: OptionalPackage): string | undefined {
  if (pathFrom(import.meta.url, name) !== undefined) return undefined;
  return pathToFileURL(pathFrom(applicationFolder(), name) ?? '').href;
}

function applicationFolder(): string {
  return join(process.cwd(), 'package.json');
}

function pathFrom(place: string, name: string): string | undefined {
  try {
    return createRequire(place).resolve(name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return undefined;
    throw error;
  }
}
