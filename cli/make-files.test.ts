import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

test('creates files and their folders', () => {
  make('a.ts', 'below/deep/b.ts');
  expect(existsSync(join(folder, 'a.ts')) && existsSync(join(folder, 'below/deep/b.ts'))).toBe(true);
});

test('a failure removes only the created files', () => {
  mkdirSync(join(folder, 'ours'));
  writeFileSync(join(folder, 'blocked'), 'a file');
  expect(() => make('a.ts', 'ours/b.ts', 'new/deep/c.ts', 'blocked/d.ts')).toThrow(InputError);
  expect(readdirSync(folder).sort()).toEqual(['blocked', 'ours']);
  expect(readdirSync(join(folder, 'ours'))).toEqual([]);
});

test('a failure restores the changed files', () => {
  const [list, missing] = [join(folder, '.gitignore'), join(folder, 'missing')];
  writeFileSync(list, 'a\n');
  const changed = new Map([
    [list, 'a\nb\n'],
    [missing, 'c\n'],
  ]);
  expect(() => makeFiles(new Map([[join(folder, 'd'), 'd']]), { changed })).toThrow(InputError);
  expect(readdirSync(folder)).toEqual(['.gitignore']);
  expect(readFileSync(list, 'utf8')).toBe('a\n');
  makeFiles(new Map(), { changed: new Map([[list, 'a\nb\n']]) });
  expect(readFileSync(list, 'utf8')).toBe('a\nb\n');
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
