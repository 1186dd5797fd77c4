import { type Stats, unwatchFile, watchFile } from 'node:fs';
import type { ProcessPort } from './process-port.js';

/**
 * Interval of the checks of a file, in milliseconds. A check by name also notices a mounted file that is replaced as a
 * whole.
 */
const LOOK_EVERY_MS = 1_000;

/** Calls back when one of the files has changed, and on SIGHUP. @returns a function that stops it */
export function followFiles(
  files: readonly string[],
  port: Pick<ProcessPort, 'on'>,
  reload: () => void,
): () => void {
  // A file that is being replaced is missing for a moment.
  const look = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs && now.mtimeMs !== 0) reload();
  };
  for (const file of files) watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  const forget = port.on('SIGHUP', () => reload());
  return () => {
    for (const file of files) unwatchFile(file, look);
    forget();
  };
}
