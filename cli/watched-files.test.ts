import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WatchedFiles } from './watched-files.js';

let folder: string;
let watched: WatchedFiles;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-watched-'));
  watched = new WatchedFiles();
});

afterEach(() => {
  watched.close();
  rmSync(folder, { recursive: true, force: true });
});

test('repeated waiting leaves no listeners on the signal', async () => {
  const { signal } = new AbortController();
  const file = join(folder, 'file.ts');
  expect(watched.changes([folder], [])).toEqual([]);
  for (let count = 0; count < 5; count += 1) {
    writeFileSync(file, 'x'.repeat(count));
    await watched.next(signal);
    expect(watched.changes([folder], [])).toEqual([file]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  }
});

test('waiting ends when the signal is given, before or after', async () => {
  const stop = new AbortController();
  const waiting = watched.next(stop.signal);
  stop.abort();
  await waiting;
  await watched.next(stop.signal);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
