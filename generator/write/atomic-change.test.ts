import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { withRefusedWrites } from '../../cli/test-support/refused-writes.js';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { contentHash } from '../content-hash.js';
import { applyPlan } from './apply-plan.js';
import { type AtomicChange, atomically } from './atomic-change.js';
import type { WritePlan } from './plan-write.js';

let folder = '';

beforeEach(() => {
  folder = temporaryFolder(onTestFinished);
  for (const name of ['old.ts', 'gone.ts']) writeFileSync(join(folder, name), name);
  chmodSync(join(folder, 'old.ts'), 0o640);
  writeFileSync(join(folder, 'blocked'), 'a file where a folder is needed');
  mkdirSync(join(folder, 'ours'));
});

const at = (path: string): string => join(folder, path);
const names = (): readonly string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** Every kind of change. */
function changeAll(change: AtomicChange): void {
  change.create(at('new/deep/a.ts'), 'a', 0o600);
  change.create(at('ours/b.ts'), 'b');
  const moves = [
    change.stage(at('old.ts'), 'changed', 'old.ts'),
    change.stage(at('below/c.ts'), 'c', undefined),
    change.stage(at('gone.ts'), undefined, 'gone.ts'),
  ];
  for (const move of moves) move();
}

test('creates, replaces and removes files, keeps their modes, and leaves no temporary file', () => {
  atomically(changeAll);
  const left = 'below below/c.ts blocked new new/deep new/deep/a.ts old.ts ours ours/b.ts';
  expect(names().join(' ')).toBe(left);
  expect(readFileSync(at('old.ts'), 'utf8')).toBe('changed');
  expect(statSync(at('old.ts')).mode & 0o777).toBe(0o640);
  expect(statSync(at('new/deep/a.ts')).mode & 0o777).toBe(0o600);
});

test.each([
  ['a folder cannot be made', (change: AtomicChange) => change.create(at('blocked/d.ts'), 'd')],
  ['a file exists', (change: AtomicChange) => change.create(at('blocked'), 'd')],
  [
    'a text cannot be staged',
    (change: AtomicChange) => void change.stage(at('blocked/d.ts'), 'd', undefined),
  ],
  ['a folder is in the way of a file', (change: AtomicChange) => change.replace(at('ours'), 'd', undefined)],
])('if %s, everything is as before', (_, fail) => {
  const before = names();
  expect(() =>
    atomically((change) => {
      changeAll(change);
      fail(change);
    }),
  ).toThrow();
  expect(names()).toEqual(before);
  expect(readFileSync(at('old.ts'), 'utf8')).toBe('old.ts');
  expect(readFileSync(at('blocked'), 'utf8')).toMatch(/^a file/);
});

test('a disk that is full before the last text of a run leaves the old files intact', async () => {
  const plan = (text: string, before?: string): WritePlan => ({
    changes: [{ path: 'out/a.ts', kind: 'update', text, ...(before === undefined ? {} : { before }) }],
    diagnostics: [],
    manifest: new Map([['a.ts', new Set([contentHash(text)])]]),
  });
  applyPlan(folder, 'out', plan('old'));
  const manifest = readFileSync(at('out/.fw-manifest.json'), 'utf8');
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
  let manifests = 0;
  await withRefusedWrites(
    (path) => {
      if (path.includes('manifest')) manifests += 1;
      return manifests > 1 ? full : undefined;
    },
    () => expect(() => applyPlan(folder, 'out', plan('new', 'old'))).toThrow(full),
  );
  expect(readFileSync(at('out/a.ts'), 'utf8')).toBe('old');
  expect(readFileSync(at('out/.fw-manifest.json'), 'utf8')).toBe(manifest);
});
