import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { isSystemError } from '../system-error.js';

/** A folder of the configuration: `source` is set by `fw.generator.source`. */
export interface ConfiguredFolder {
  readonly key: 'source' | 'migrations' | 'templates';
  readonly path: string;
}

/**
 * Runs a step that accesses the disk. @returns its result; undefined after a failure, or if a source is nested too
 * deeply, which becomes a diagnostic
 *
 * @throws Error that names the place, for any other failure: a bug
 * @param place a file, or a folder, whose diagnostic names its key in the configuration
 */
export function attempt<T>(
  diagnostics: Diagnostic[],
  place: string | ConfiguredFolder,
  step: () => T,
): T | undefined {
  try {
    return step();
  } catch (error) {
    const [message, hint] = problemOf(place, error);
    diagnostics.push(diagnostic('FWGEN038', { file: nameOf(place) }, message, hint));
    return undefined;
  }
}

/** @throws Error that names the place, for a bug */
function problemOf(
  place: string | ConfiguredFolder,
  error: unknown,
): readonly [message: string, hint: string] {
  // The parser and the checker call themselves for each level.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return ['Cannot read: a type or an expression is nested too deeply', 'Declare its parts by names.'];
  if (!isSystemError(error)) throw new Error(`Failed at ${nameOf(place)}`, { cause: error });
  const { code = 'unknown error' } = error;
  return typeof place === 'string'
    ? [`Cannot read: ${code}`, 'Check that it exists and is readable.']
    : folderProblem(place, code);
}

function nameOf(place: string | ConfiguredFolder): string {
  return (typeof place === 'string' ? place : place.path) || '.';
}

function folderProblem({ key }: ConfiguredFolder, code: string): readonly [message: string, hint: string] {
  const remedy = `Correct fw.generator.${key} in the configuration`;
  switch (code) {
    case 'ENOENT':
      return [`The ${key} folder does not exist`, `${remedy}, or create the folder.`];
    case 'ENOTDIR':
      return [`The ${key} folder is a file`, `${remedy}: it names a folder.`];
    default:
      return [`The ${key} folder cannot be read: ${code}`, 'Check its permissions.'];
  }
}
