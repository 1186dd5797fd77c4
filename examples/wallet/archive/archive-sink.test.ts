import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReceivedMessage, sinkConformance } from 'fw-actions/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { archiveSink } from './archive-sink.js';

let root: string;
const folder = (): string => join(root, 'archive');
const path = (): string => join(folder(), 'events.jsonl');

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'archive-'));
  await mkdir(folder());
});

afterAll(() => rm(root, { recursive: true }));

async function received(): Promise<readonly ReceivedMessage[]> {
  const lines = (await readFile(path(), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as ReceivedMessage);
}

const cases = sinkConformance({
  open: () => archiveSink(path()),
  received,
  outage: {
    begin: () => rename(folder(), join(root, 'away')),
    end: () => rename(join(root, 'away'), folder()),
  },
});

describe('The archive', () => {
  for (const { name, run } of cases) test(name, run, 120_000);
});
