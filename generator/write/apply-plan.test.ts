import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyPlan } from './apply-plan.js';
import type { FileChange } from './plan-write.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-apply-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plan = (...changes: readonly FileChange[]): Parameters<typeof applyPlan>[1] => ({
  changes,
  diagnostics: [],
});

test('creates, updates and removes, and leaves no temporary file', () => {
  writeFileSync(join(folder, 'old.ts'), 'old');
  writeFileSync(join(folder, 'gone.ts'), 'gone');
  applyPlan(
    folder,
    plan(
      { path: 'below/new.ts', kind: 'create', text: 'new' },
      { path: 'old.ts', kind: 'update', text: 'changed' },
      { path: 'gone.ts', kind: 'remove' },
    ),
  );
  expect(readdirSync(folder).sort()).toEqual(['below', 'old.ts']);
  expect(readFileSync(join(folder, 'old.ts'), 'utf8')).toBe('changed');
  expect(readFileSync(join(folder, 'below/new.ts'), 'utf8')).toBe('new');
});

test('a failure while staging leaves everything as it was', () => {
  writeFileSync(join(folder, 'old.ts'), 'old');
  writeFileSync(join(folder, 'blocked'), 'a file where a folder is needed');
  const changes = plan(
    { path: 'old.ts', kind: 'update', text: 'changed' },
    { path: 'blocked/new.ts', kind: 'create', text: 'new' },
  );
  expect(() => applyPlan(folder, changes)).toThrow();
  expect(readdirSync(folder).sort()).toEqual(['blocked', 'old.ts']);
  expect(readFileSync(join(folder, 'old.ts'), 'utf8')).toBe('old');
});

test('a failure while renaming takes back what was renamed before', () => {
  writeFileSync(join(folder, 'a.ts'), 'old');
  mkdirSync(join(folder, 'z.ts'));
  const changes = plan(
    { path: 'a.ts', kind: 'update', text: 'changed' },
    { path: 'b.ts', kind: 'create', text: 'new' },
    { path: 'z.ts', kind: 'create', text: 'cannot replace a folder' },
  );
  expect(() => applyPlan(folder, changes)).toThrow();
  expect(readdirSync(folder).sort()).toEqual(['a.ts', 'z.ts']);
  expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe('old');
});
