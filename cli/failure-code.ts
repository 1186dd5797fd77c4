import { EXIT, type ExitCode, type Output } from './exit.js';
import { InputError, UnreachableError } from './input-error.js';

/** Codes of errors that the user can mend: a package is missing, a migration fails on the trial database. */
const MISTAKES: readonly unknown[] = ['FW_PACKAGE_MISSING', 'FW_MIGRATION'];

/**
 * Prints why a command failed. Returns the exit code: 1 for unreachable databases, 2 for wrong input, 3 for a bug of
 * this program.
 */
export function failureCode(error: unknown, output: Output): ExitCode {
  const isMistake = error instanceof Error && 'code' in error && MISTAKES.includes(error.code);
  if (isMistake || error instanceof InputError || error instanceof UnreachableError) {
    output.error(error.message);
    return error instanceof UnreachableError ? EXIT.drift : EXIT.inputError;
  }
  // A file or folder of the command line.
  if (error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error) {
    output.error(`Cannot ${String(error.syscall)} ${String(error.path)}: ${String(error.code)}`);
    return EXIT.inputError;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.error(`This is a bug in fw-gen. Please report it:\n${detail}`);
  return EXIT.bug;
}
