import { describe, expect, test } from 'vitest';
import { parseModule, walk } from './import-graph.js';
import { isOwnTime, isTimeModule } from './own-time.js';

/** The uses of the platform's time in a text. */
function usesIn(text: string): readonly string[] {
  const uses: string[] = [];
  walk(parseModule('a.ts', text).syntax, (node) => {
    if (isOwnTime(node)) uses.push(node.getText());
  });
  return uses;
}

describe('isOwnTime', () => {
  test.each([
    ...['setTimeout(work, 10);', 'setInterval(work, 10);', 'setImmediate(work);', 'clearTimeout(timer);'],
    ...['const later = setTimeout;', 'const start = { setTimeout };', 'globalThis.setTimeout(work, 10);'],
    ...["globalThis['setTimeout'](work, 10);", 'global.setImmediate(work);', 'globalThis.Date.now();'],
    ...['Date.now();', "Date['now']();", 'const { now } = Date;', 'Date();', 'const date = new Date();'],
    ...['const date = new Date;', 'performance.now();', 'const { now } = performance;'],
    ...['globalThis.performance.now();', 'process.hrtime.bigint();', 'process.uptime();'],
    ...['AbortSignal.timeout(10);', 'Atomics.wait(view, 0, 0, 10);'],
  ])('finds %s', (text) => {
    expect(usesIn(text)).not.toEqual([]);
  });

  test.each([
    ...['time.setTimeout(work, 10);', 'time.nowMs();', 'socket.setTimeout(10);', 'process.nextTick(work);'],
    'const system: Time = { setTimeout: start };',
    'interface Time { setTimeout(work: () => void): void; readonly performance: number; }',
    'class Own { setTimeout(): void {} }',
    ...['new Date(time.dateMs());', 'Date.UTC(2026, 0, 1);', 'Date.parse(text);', 'value instanceof Date;'],
    ...['let date: Date | undefined;', 'const dates: ReadonlyMap<string, Date> = new Map();'],
    "const text = 'setTimeout(work, 10)'; // Date.now()",
  ])('accepts %s', (text) => {
    expect(usesIn(text)).toEqual([]);
  });
});

test.each(['node:timers', 'timers/promises', 'node:timers/promises', 'node:perf_hooks', 'perf_hooks'])(
  '%s is a module of timers or clocks',
  (specifier) => expect(isTimeModule(specifier)).toBe(true),
);
