import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyPlan } from './apply-plan.js';
import { MANIFEST_NAME } from './manifest.js';
import type { FileChange } from './plan-write.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-apply-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const apply = (...changes: readonly FileChange[]): void =>
  applyPlan(folder, '', { changes, diagnostics: [], manifest: new Map() });

test('creates, updates and removes, and leaves no temporary file', () => {
  writeFileSync(join(folder, 'old.ts'), 'old');
  writeFileSync(join(folder, 'gone.ts'), 'gone');
  apply(
    { path: 'below/new.ts', kind: 'create', text: 'new' },
    { path: 'old.ts', kind: 'update', text: 'changed', before: 'old' },
    { path: 'gone.ts', kind: 'remove', before: 'gone' },
  );
  expect(readdirSync(folder).sort()).toEqual([MANIFEST_NAME, 'below', 'old.ts']);
  expect(readFileSync(join(folder, 'old.ts'), 'utf8')).toBe('changed');
  expect(readFileSync(join(folder, 'below/new.ts'), 'utf8')).toBe('new');
});

test('a failure while staging leaves everything as it was', () => {
  writeFileSync(join(folder, 'old.ts'), 'old');
  writeFileSync(join(folder, 'blocked'), 'a file where a folder is needed');
  expect(() =>
    apply(
      { path: 'old.ts', kind: 'update', text: 'changed', before: 'old' },
      { path: 'blocked/new.ts', kind: 'create', text: 'new' },
    ),
  ).toThrow();
  expect(readdirSync(folder).sort()).toEqual(['blocked', 'old.ts']);
  expect(readFileSync(join(folder, 'old.ts'), 'utf8')).toBe('old');
});

test('a failure while renaming restores the files that were renamed before', () => {
  writeFileSync(join(folder, 'a.ts'), 'old');
  mkdirSync(join(folder, 'z.ts'));
  expect(() =>
    apply(
      { path: 'a.ts', kind: 'update', text: 'changed', before: 'old' },
      { path: 'b.ts', kind: 'create', text: 'new' },
      { path: 'z.ts', kind: 'create', text: 'cannot replace a folder' },
    ),
  ).toThrow();
  expect(readdirSync(folder).sort()).toEqual(['a.ts', 'z.ts']);
  expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe('old');
});
