import { readFileSync, statSync } from 'node:fs';

/** The text of a file, or the reason why it cannot be read, as the end of a sentence (`does not exist`). */
export type FileContent = { readonly text: string } | { readonly failure: string };

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not readable for this user',
  EPERM: 'is not readable for this user',
  ELOOP: 'is a loop of symbolic links',
  ENAMETOOLONG: 'has a name that is too long',
};

/** Reads a regular file of at most `maximumBytes` as UTF-8, without its byte order mark. Never throws. */
export function readSmallFile(path: string, maximumBytes: number): FileContent {
  const tooLarge = { failure: `is larger than ${maximumBytes} bytes` };
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return { failure: 'is a folder' };
    // Opening a pipe without a writer would block.
    if (!stat.isFile()) return { failure: 'is not a regular file' };
    if (stat.size > maximumBytes) return tooLarge;
    const bytes = readFileSync(path);
    // The system reports the size 0 for files such as those in /proc.
    if (bytes.length > maximumBytes) return tooLarge;
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not valid UTF-8';
  return FAILURES[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}
