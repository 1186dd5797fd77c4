import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The text of a file, or the reason why it cannot be read, as the end of a sentence (`does not exist`). */
export type FileContent = { readonly text: string } | { readonly failure: string };

const READ_WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not readable for this user',
  EPERM: 'is not readable for this user',
  EISDIR: 'is a folder',
  ELOOP: 'is a loop of symbolic links',
  ENAMETOOLONG: 'has a name that is too long',
};

/** Reads a regular file of at most `maximumBytes` as UTF-8, without its byte order mark. Never throws. */
export function readSmallFile(path: string, maximumBytes: number): FileContent {
  let descriptor: number | undefined;
  try {
    // Non-blocking, because opening a pipe without a writer would block.
    descriptor = openSync(path, READ_WITHOUT_WAITING);
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) return { failure: 'is a folder' };
    if (!stat.isFile()) return { failure: 'is not a regular file' };
    const buffer = Buffer.alloc(maximumBytes + 1);
    const length = readFully(descriptor, buffer);
    if (length > maximumBytes) return { failure: `is larger than ${maximumBytes} bytes` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) };
  } catch (error) {
    return { failure: failureOf(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Reads until the buffer is full or the file ends. */
function readFully(descriptor: number, buffer: Buffer): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function failureOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not valid UTF-8';
  return FAILURES[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}
