import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A new folder, removed after the tests of the calling file or `describe`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fw-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
