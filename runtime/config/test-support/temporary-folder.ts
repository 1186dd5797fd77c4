import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * A new folder.
 *
 * @param atEnd calls back when the folder is to be removed; default: after the tests of the calling file or `describe`
 */
export function temporaryFolder(atEnd: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), 'fw-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
