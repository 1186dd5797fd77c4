import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { isSystemError } from '../system-error.js';

/** Runs a step that accesses the disk. @returns its result; undefined after a failure, which becomes a diagnostic */
export function attempt<T>(diagnostics: Diagnostic[], file: string, step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = 'Check that it exists and is readable.';
    diagnostics.push(diagnostic('FWGEN038', { file: file || '.' }, `Cannot read: ${error.code}`, hint));
    return undefined;
  }
}

/** A folder of the configuration: `source` is set by `fw.generator.source`. */
export interface ConfiguredFolder {
  readonly key: 'source' | 'migrations';
  readonly path: string;
}

/** As `attempt`, for a folder: the diagnostic names its key in the configuration. */
export function attemptFolder<T>(
  diagnostics: Diagnostic[],
  folder: ConfiguredFolder,
  step: () => T,
): T | undefined {
  try {
    return step();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    diagnostics.push(unreadableFolder(folder, error.code));
    return undefined;
  }
}

/** The diagnostic of a folder that cannot be listed, with the code of the system's error. */
function unreadableFolder({ key, path }: ConfiguredFolder, code = 'unknown error'): Diagnostic {
  const text = `The ${key} folder`;
  const remedy = `Correct fw.generator.${key} in the configuration`;
  const place = { file: path || '.' };
  switch (code) {
    case 'ENOENT':
      return diagnostic('FWGEN038', place, `${text} does not exist`, `${remedy}, or create the folder.`);
    case 'ENOTDIR':
      return diagnostic('FWGEN038', place, `${text} is a file`, `${remedy}: it names a folder.`);
    default:
      return diagnostic('FWGEN038', place, `${text} cannot be read: ${code}`, 'Check its permissions.');
  }
}
