import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderWatcher } from './folder-watcher.js';

let folder: string;
let watcher: FolderWatcher;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-watched-'));
  watcher = new FolderWatcher();
});

afterEach(() => {
  watcher.close();
  rmSync(folder, { recursive: true, force: true });
});

test('repeated waiting leaves no listeners on the signal', async () => {
  const { signal } = new AbortController();
  watcher.watchOnly([folder]);
  for (let count = 0; count < 5; count += 1) {
    writeFileSync(join(folder, 'file.ts'), String(count));
    await watcher.nextChange(signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  }
});

test('waiting ends when the signal is given, before or after', async () => {
  const stop = new AbortController();
  const waiting = watcher.nextChange(stop.signal);
  stop.abort();
  await waiting;
  await watcher.nextChange(stop.signal);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
