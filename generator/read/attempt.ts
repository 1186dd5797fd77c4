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
