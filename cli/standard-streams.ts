import { EXIT } from './exit.js';

const watched = new Set<NodeJS.WriteStream>();
const closed = new AbortController();

/** Aborted once a reader has left, as in `fw-gen openapi | head -1`. */
export const readerLeft: AbortSignal = closed.signal;

/**
 * Writes to standard output or standard error. If its reader has left, the text is dropped and the command goes on: it
 * may be about to change something. Ends the process if the text cannot be written for another reason, such as a full
 * disk.
 */
export function writeText(stream: NodeJS.WriteStream, text: string): void {
  if (!watched.has(stream)) {
    watched.add(stream);
    stream.on('error', onError);
  }
  stream.write(text);
}

function onError({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') {
    closed.abort();
    return;
  }
  process.exitCode = EXIT.drift;
  process.stderr.write(`The output cannot be written: ${message}\n`, () => process.exit(EXIT.drift));
}
