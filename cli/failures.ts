import { FwError } from '../runtime/errors.js';
import type { DriverFailure } from '../runtime/operations.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { InputError } from './input-error.js';

/** Codes of errors for which a database could not be queried. */
const OUT_OF_REACH: readonly unknown[] = ['FW_SHARD_UNAVAILABLE', 'FW_SHARD_BUSY', 'FW_DEADLINE_EXCEEDED'];

/**
 * Prints why a command failed. Returns the exit code: 1 for unreachable databases, 2 for wrong input, 3 for a bug of
 * this program.
 */
export function failureCode(error: unknown, output: Output): ExitCode {
  const message = error instanceof InputError ? error.message : expectedMessage(error);
  if (message !== undefined) {
    output.error(message);
    return isOutOfReach(error) ? EXIT.drift : EXIT.inputError;
  }
  // A file or folder of the command line.
  if (error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error) {
    output.error(`Cannot ${String(error.syscall)} ${String(error.path)}: ${String(error.code)}`);
    return EXIT.inputError;
  }
  output.error(`This is a bug in fw-gen. Please report it:\n${traceOf(error)}`);
  return EXIT.bug;
}

/** The causes follow the failure: it may name the file, and they the place in this program. */
function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const trace = error.stack ?? error.message;
  return error.cause === undefined ? trace : `${trace}\nCaused by: ${traceOf(error.cause)}`;
}

/** Describes a failure that the user or the database must resolve; undefined for another one: a bug. */
export function expectedMessage(error: unknown): string | undefined {
  if (!(isDriverFailure(error) || error instanceof FwError)) return undefined;
  const failure = isDriverFailure(error.cause) ? error.cause : error;
  const sqlState = 'sqlState' in failure ? failure.sqlState : undefined;
  const message = failure === error ? error.message : `${error.message}: ${failure.message}`;
  return sqlState === '42P01' || sqlState === '3F000'
    ? `${message}. Its tables are missing or older than this version: run fw-gen migrate up.`
    : message;
}

function isOutOfReach(error: unknown): boolean {
  if (isDriverFailure(error)) return error.phase !== 'answered';
  return error instanceof FwError && OUT_OF_REACH.includes(error.code);
}

/** By name, because its module is loaded only by commands that use databases. */
function isDriverFailure(error: unknown): error is DriverFailure {
  return error instanceof Error && error.name === 'DriverFailure';
}
