import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCEPTED, type RelayMessage } from 'fw-actions/relay';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../runtime/config/test-support/temporary-folder.js';
import { archiveSink } from './archive-sink.js';

let root: string;
const path = (): string => join(root, 'archive', 'events.jsonl');

beforeEach(() => {
  root = temporaryFolder(onTestFinished);
});

function messageOf(id: string): RelayMessage {
  const names = { modelName: 'Wallet', eventType: 'WalletClosedEvent', contentType: 'application/json' };
  return { id, key: 'one wallet', ...names, attributes: { id }, body: `{"id":"${id}"}` };
}

test('keeps the order of messages, and fails as a whole while the folder is away', async () => {
  const sink = archiveSink(path());
  const go = new AbortController().signal;
  await expect(sink.publish([messageOf('early')], go)).rejects.toThrow('ENOENT');
  await mkdir(join(root, 'archive'));
  expect(await sink.publish([messageOf('a'), messageOf('b')], go)).toEqual([ACCEPTED, ACCEPTED]);
  await rename(join(root, 'archive'), join(root, 'away'));
  await expect(sink.publish([messageOf('c')], go)).rejects.toThrow('ENOENT');
  await rename(join(root, 'away'), join(root, 'archive'));
  await sink.publish([messageOf('c')], go);
  expect(await stored()).toEqual(['a', 'b', 'c']);
});

test('sends nothing after the relay has stopped waiting', async () => {
  await mkdir(join(root, 'archive'));
  const sink = archiveSink(path());
  await sink.publish([messageOf('a')], new AbortController().signal);
  await expect(sink.publish([messageOf('b')], AbortSignal.abort())).rejects.toThrow('aborted');
  expect(await stored()).toEqual(['a']);
});

async function stored(): Promise<readonly string[]> {
  const lines = (await readFile(path(), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}
