import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { DriverFailure } from '../sharding/driver-failure.js';

const FULL = 'no space left on the disk';
const FORBIDDEN = 'permission denied';
const NO_FOLDER = 'it is not a folder';

/** Reasons by the error numbers of Emscripten's file system, which are those of WASI. */
const REASONS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [51, FULL],
  [19, FULL],
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  [2, FORBIDDEN],
  [63, FORBIDDEN],
  ['EACCES', FORBIDDEN],
  ['EPERM', FORBIDDEN],
  [69, 'its file system is read-only'],
  ['EROFS', 'its file system is read-only'],
  [54, NO_FOLDER],
  ['ENOTDIR', NO_FOLDER],
  ['EEXIST', NO_FOLDER],
]);

/** Messages of PostgreSQL ending itself, which contain no reason. */
const GIVEN_UP = /^Aborted\(|failed to initialize/;

/**
 * Describes why an embedded database did not start.
 *
 * @param directory absent: in memory
 * @param cause the thrown value: an error, or an object with only a number
 */
export function openFailure(directory: string | undefined, cause: unknown): DriverFailure {
  const place = directory === undefined ? 'in memory' : `in ${directory}`;
  const message = `The embedded database ${place} cannot be opened: ${reasonOf(directory, cause)}`;
  return new DriverFailure(message, { phase: 'not-sent', reason: 'unreachable', cause });
}

function reasonOf(directory: string | undefined, cause: unknown): string {
  const facts = typeof cause === 'object' && cause !== null ? cause : {};
  const known =
    REASONS.get('code' in facts ? facts.code : undefined) ??
    REASONS.get('errno' in facts ? facts.errno : undefined);
  if (known !== undefined) return known;
  const message = cause instanceof Error ? cause.message : `its file system says ${JSON.stringify(cause)}`;
  if (directory === undefined || !GIVEN_UP.test(message)) return message;
  if (isFull(directory)) return FULL;
  return isAccessible(directory) ? 'it is damaged, or of another version of PostgreSQL' : FORBIDDEN;
}

/** PostgreSQL ends itself if it cannot create a segment of its log (16 MiB). */
function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < 16 * 1_024 * 1_024;
  } catch {
    return false;
  }
}

function isAccessible(directory: string): boolean {
  const paths = [directory, join(directory, 'PG_VERSION'), join(directory, 'global', 'pg_control')];
  try {
    for (const path of paths.filter(existsSync)) accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
