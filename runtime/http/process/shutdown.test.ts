import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogEntry, Logger } from '../../observability/logger.js';
import { collectLog } from '../test-support/collect-log.js';
import { FakeProcess } from '../test-support/fake-process.js';
import { endWithProcess } from './shutdown.js';

let port: FakeProcess;
let log: LogEntry[];
let finish: (error?: Error) => void;
let closings: number;
/** Exits so far, at each flush. */
let flushed: (readonly number[])[];
let forget: () => void;

/** The fake's `exit` throws, inside a promise that is not awaited. */
const swallow = (): void => {};

beforeEach(() => {
  vi.useFakeTimers();
  process.on('unhandledRejection', swallow);
  port = new FakeProcess();
  log = [];
  closings = 0;
  const closed = new Promise<void>((resolve, reject) => {
    finish = (error) => (error === undefined ? resolve() : reject(error));
  });
  flushed = [];
  const logger: Logger = {
    ...collectLog(log),
    flush: (done) => {
      flushed.push([...port.exits]);
      done?.();
    },
  };
  forget = endWithProcess(port, logger, () => {
    closings += 1;
    return closed;
  });
});

afterEach(() => {
  vi.useRealTimers();
  process.off('unhandledRejection', swallow);
});

describe('a process that serves', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('drains on %s and ends well', async (signal) => {
    port.signal(signal);
    expect([closings, port.exits]).toEqual([1, []]);
    port.exit = (code) => void port.exits.push(code) as never;
    finish();
    await vi.advanceTimersByTimeAsync(0);
    expect(port.exits).toEqual([0]);
    expect(flushed).toEqual([[]]);
    expect(log).toEqual([{ level: 'info', message: `${signal}: finishing requests in progress` }]);
  });

  it('ends at once on a second signal', () => {
    port.signal('SIGTERM');
    expect(() => port.signal('SIGINT')).toThrow('exit 130');
    expect(closings).toBe(1);
  });

  it('ends after 10 seconds, even with open requests', async () => {
    port.exit = (code) => void port.exits.push(code) as never;
    port.signal('SIGTERM');
    await vi.advanceTimersByTimeAsync(9_999);
    expect(port.exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(port.exits).toEqual([1]);
  });

  it('ends after 10 seconds, even with a logger that throws', async () => {
    const broken = (): never => {
      throw new Error('the disk is full');
    };
    forget();
    endWithProcess(port, { info: broken, warn: broken, error: broken }, () => Promise.resolve());
    port.exit = (code) => void port.exits.push(code) as never;
    expect(() => port.signal('SIGTERM')).toThrow('the disk is full');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(port.exits).toEqual([1]);
  });

  it('reports why closing failed', async () => {
    port.exit = (code) => void port.exits.push(code) as never;
    port.signal('SIGTERM');
    finish(new Error('stuck'));
    await vi.advanceTimersByTimeAsync(0);
    expect(port.exits).toEqual([1]);
    expect(flushed).toEqual([[]]);
    expect(log.at(-1)).toMatchObject({ level: 'error', message: 'closing failed', error: 'stuck' });
  });

  it('logs an unhandled rejection and continues', () => {
    port.uncaught(new Error('lost'), false);
    expect(log).toMatchObject([{ level: 'error', message: 'unhandled rejection', error: 'lost' }]);
    expect(closings).toBe(0);
  });

  it('logs an uncaught error and ends', () => {
    port.uncaught(new Error('broken'), true);
    expect(log[0]).toMatchObject({ level: 'error', message: 'uncaught error', error: 'broken' });
    expect(closings).toBe(1);
  });
});
