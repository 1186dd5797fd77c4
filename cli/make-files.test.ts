import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InputError } from './input-error.js';
import { makeFiles } from './make-files.js';
import { withRefusedWrites } from './test-support/refused-writes.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-make-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const make = (...paths: readonly string[]): void =>
  makeFiles(new Map(paths.map((path) => [join(folder, path), `text of ${path}`])));

test('a file that cannot be changed is named, and no file is created', () => {
  const changed = new Map([[join(folder, 'missing'), 'c']]);
  expect(() => makeFiles(new Map([[join(folder, 'd'), 'd']]), { changed })).toThrow(
    new InputError(`Cannot write ${folder}/missing: ENOENT (open). Check free space and permissions.`),
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('an existing file blocks the path, and stays', () => {
  symlinkSync(join(folder, 'nowhere'), join(folder, 'a.ts'));
  expect(() => make('a.ts')).toThrow(
    new InputError(
      `Cannot write ${folder}/a.ts: EEXIST (open). The file ${folder}/a.ts blocks the path. Move it, or choose another path.`,
    ),
  );
  expect(readdirSync(folder)).toEqual(['a.ts']);
});

test('a full disk leaves no files, not even an empty one', async () => {
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
  const isFull = (path: string): boolean => path.endsWith('b.ts');
  await withRefusedWrites(
    (path) => (isFull(path) ? full : undefined),
    () =>
      expect(() => make('below/a.ts', 'below/b.ts')).toThrow(
        new InputError(
          `Cannot write ${folder}/below/b.ts: ENOSPC (write). Check free space and permissions.`,
        ),
      ),
  );
  expect(readdirSync(folder)).toEqual([]);
});
