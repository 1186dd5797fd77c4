import { getEventListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { WatchedFiles } from './watched-files.js';

let folder: string;
let watched: WatchedFiles;

beforeEach(() => {
  folder = temporaryFolder(onTestFinished);
  watched = new WatchedFiles();
});

afterEach(() => watched.close());

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
