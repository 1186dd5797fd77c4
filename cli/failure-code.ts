import { EXIT, type ExitCode, type Output } from './exit.js';
import { InputError, UnreachableError } from './input-error.js';

/**
 * Prints why a command failed. Returns the exit code: 1 for unreachable databases, 2 for wrong input, 3 for a bug of
 * this program.
 */
export function failureCode(error: unknown, output: Output): ExitCode {
  if (error instanceof InputError) {
    output.error(error.message);
    return EXIT.inputError;
  }
  if (error instanceof UnreachableError) {
    output.error(error.message);
    return EXIT.drift;
  }
  if (error instanceof Error && 'code' in error && error.code === 'FW_PACKAGE_MISSING') {
    output.error(error.message);
    return EXIT.inputError;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.error(`This is a bug in fw-gen. Please report it:\n${detail}`);
  return EXIT.bug;
}
