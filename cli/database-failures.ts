import { InputError, UnreachableError } from './input-error.js';

/**
 * Runs work whose expected failures the user or the database must resolve.
 * @throws InputError
 * @throws UnreachableError
 */
export async function expectFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = await explainFailure(error);
    throw (await isOutOfReach(error)) ? new UnreachableError(message) : new InputError(message);
  }
}

const OUT_OF_REACH = ['FW_SHARD_UNAVAILABLE', 'FW_SHARD_BUSY', 'FW_DEADLINE_EXCEEDED'];

async function isOutOfReach(error: unknown): Promise<boolean> {
  const { DriverFailure, FwError } = await import('../runtime/operations.js');
  if (error instanceof DriverFailure) return error.phase !== 'answered';
  return error instanceof FwError && OUT_OF_REACH.includes(error.code);
}

/** Describes an expected failure. @throws the error itself if it is unexpected: a bug */
export async function explainFailure(error: unknown): Promise<string> {
  const { DriverFailure, FwError } = await import('../runtime/operations.js');
  if (!(error instanceof DriverFailure || error instanceof FwError)) throw error;
  const failure = error.cause instanceof DriverFailure ? error.cause : error;
  const sqlState = 'sqlState' in failure ? failure.sqlState : undefined;
  const lacksTables = sqlState === '42P01' || sqlState === '3F000';
  const message = failure === error ? error.message : `${error.message}: ${failure.message}`;
  return lacksTables
    ? `${message}. Its tables are missing or older than this version: run fw-gen migrate up.`
    : message;
}
