import { expect, it } from 'vitest';
import type { LogEntry } from '../domain/logger.js';
import { collectLog } from '../http/test-support/collect-log.js';
import { LogLimiter } from './log-limiter.js';
import { ManualTime } from './test-support/manual-time.js';

const clock = new ManualTime();
const lines: LogEntry[] = [];
const limiter = new LogLimiter(collectLog(lines), { nowMs: clock.nowMs, later: clock.setTimeout });
const write = (kind: string, number: number, perSecond?: number): boolean =>
  limiter.write(kind, () => ({ level: 'warn', message: kind, number }), perSecond);

it('writes one line per second and kind, with the number of entries that were left out', () => {
  const written = Array.from({ length: 1_000 }, (_, number) => write('busy', number));
  expect(written.filter(Boolean)).toHaveLength(1);
  write('down', 0);
  expect(lines).toEqual([
    { level: 'warn', message: 'busy', number: 0 },
    { level: 'warn', message: 'down', number: 0 },
  ]);
  clock.pass(1_000);
  expect(lines.slice(2)).toEqual([{ level: 'warn', message: 'busy', number: 999, suppressed: 998 }]);
  // The summary line counts as the line of the next second.
  expect(write('busy', 1_000)).toBe(false);
  clock.pass(1_000);
  expect(lines.at(-1)).toEqual({ level: 'warn', message: 'busy', number: 1_000, suppressed: 0 });
  clock.pass(2_000);
  expect(lines).toHaveLength(4);
  expect(clock.waiting).toBe(0);
  expect(write('busy', 1)).toBe(true);
});

it('allows more lines for some kinds', () => {
  const written = Array.from({ length: 50 }, (_, number) => write('fault', number, 10));
  expect(written.filter(Boolean)).toHaveLength(10);
});

it('keeps a bounded number of kinds', () => {
  lines.length = 0;
  for (let number = 0; number < 10_000; number += 1) write(`kind ${number}`, number);
  expect(lines.length).toBeLessThan(300);
  clock.pass(1_000);
  expect(lines.at(-1)?.['suppressed']).toBeGreaterThan(9_000);
  clock.pass(2_000);
  expect(clock.waiting).toBe(0);
});
