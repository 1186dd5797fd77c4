import { readFileSync } from 'node:fs';

/** The text of a file; undefined if it cannot be read. */
export function fileText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
