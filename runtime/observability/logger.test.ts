import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { errorFacts, writeEntry } from '../domain/logger.js';
import { collectLog } from '../http/test-support/collect-log.js';
import { defaultLogger, flushLogger, type LogEntry, type Logger } from './logger.js';
import { safeLogger } from './safe-logger.js';

const folder = temporaryFolder();

afterEach(() => void vi.useRealTimers());

const nothing = { info: () => {}, warn: () => {}, error: () => {} };
const broken = (): never => {
  throw new Error('the disk is full');
};

it('writes one line per entry, without terminal control characters', () => {
  const lines: string[] = [];
  const hostile = 'a\nb\u001b[31m\u009b31m\u202ec\u2028d\u0000';
  defaultLogger((line) => void lines.push(line)).error({ path: hostile }, 'request failed');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    path: hostile,
    time: expect.any(String),
  });
});

it('logs the causes of an error, up to the limit', () => {
  const error = new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'ECONNREFUSED' }) });
  expect(errorFacts(error)).toMatchObject({
    error: 'outer',
    cause: { error: 'inner', code: 'ECONNREFUSED' },
  });
  const loop = new Error('loop');
  loop.cause = loop;
  expect(JSON.stringify(errorFacts(loop)).match(/"error":"loop"/g)).toHaveLength(4);
  expect(errorFacts('text')).toEqual({ error: 'text' });
});

it('keeps the fields of a record: time, level and message, then its facts', () => {
  const lines: string[] = [];
  const logger = defaultLogger((line) => void lines.push(line));
  writeEntry(logger, { level: 'warn', message: 'requests refused', status: 503 });
  logger.info({}, 'ready');
  const records = lines.map((line): Record<string, unknown> => JSON.parse(line));
  expect(records.map(Object.keys)).toEqual([
    ['level', 'time', 'status', 'message'],
    ['level', 'time', 'message'],
  ]);
  expect(records[0]).toMatchObject({ level: 'warn', message: 'requests refused', status: 503 });
  expect(records[0]?.['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

it('masks facts with the name of a secret', () => {
  const lines: string[] = [];
  const facts = {
    password: 'p4',
    headers: { authorization: 'Bearer b4', cookie: 'c4' },
    token: 't4',
    shard: 'x',
  };
  defaultLogger((line) => void lines.push(line)).warn(facts, 'refused');
  expect(lines[0]).not.toMatch(/p4|b4|c4|t4/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ password: '***', shard: 'x' });
});

it('accepts a pino logger, and flushes its buffer', async () => {
  const file = join(folder, 'service.log');
  writeFileSync(file, '');
  const logger = pino(pino.destination({ dest: file, sync: false, minLength: 8_192 }));
  writeEntry(logger, { level: 'error', message: 'closing failed', code: 'FW_CLOSED' });
  expect(readFileSync(file, 'utf8')).toBe('');
  await flushLogger(logger);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    level: 50,
    msg: 'closing failed',
    code: 'FW_CLOSED',
  });
});

it.each([
  ['says nothing', () => {}],
  ['throws', broken],
])('waits no longer than a second for a flush that %s', async (_, flush) => {
  vi.useFakeTimers();
  let isFlushed = false;
  const flushed = flushLogger({ ...nothing, flush }).then(() => {
    isFlushed = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isFlushed).toBe(true);
  await flushed;
  expect(vi.getTimerCount()).toBe(0);
});

it('passes an entry to the fallback logger if the first one throws, and flushes without an error', async () => {
  const entries: LogEntry[] = [];
  const failing: Logger = { info: broken, warn: broken, error: broken, flush: broken };
  const log = safeLogger(failing, collectLog(entries));
  for (const level of ['info', 'warn', 'error'] as const) writeEntry(log, { level, message: 'm', fact: 1 });
  expect(entries.map(({ level, fact }) => [level, fact])).toEqual([
    ['info', 1],
    ['warn', 1],
    ['error', 1],
  ]);
  await new Promise<void>((resolve) => log.flush?.(() => resolve()));
  expect(safeLogger(log, nothing)).toBe(log);
});
