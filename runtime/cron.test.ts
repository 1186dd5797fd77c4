import { describe, expect, test } from 'vitest';
import { cronProblem, nextDue } from './cron.js';

const BERLIN = 'Europe/Berlin';

/** The next due times, in UTC and separated by spaces. */
function due(cron: string, after: string, count: number, zone = BERLIN): string {
  const times: string[] = [];
  for (let at = new Date(after); times.length < count; times.push(at.toISOString().slice(0, 16)))
    at = nextDue({ cron, zone }, at);
  return times.join(' ');
}

describe('A due time', () => {
  test('is after the given time, in the given zone', () => {
    expect(due('0 3 * * *', '2026-01-01T02:00:00Z', 2)).toBe('2026-01-02T02:00 2026-01-03T02:00');
    expect(due('0 3 * * *', '2026-01-01T02:00:00Z', 1, 'UTC')).toBe('2026-01-01T03:00');
    expect(due('0 9 1 * 1', '2026-01-01T12:00:00Z', 2, 'UTC')).toBe('2026-01-05T09:00 2026-01-12T09:00');
  });

  test('is on a day of both fields if one of them begins with *, as in crontab', () => {
    // Mondays with an odd date.
    expect(due('0 9 */2 * 1', '2026-01-01T12:00:00Z', 3, 'UTC')).toBe(
      '2026-01-05T09:00 2026-01-19T09:00 2026-02-09T09:00',
    );
    expect(due('0 9 13 * */5', '2026-01-01T12:00:00Z', 2, 'UTC')).toBe('2026-02-13T09:00 2026-03-13T09:00');
    expect(due('0 9 13 * *', '2026-01-01T12:00:00Z', 1, 'UTC')).toBe('2026-01-13T09:00');
    expect(due('0 9 * * 1', '2026-01-01T12:00:00Z', 1, 'UTC')).toBe('2026-01-05T09:00');
  });

  test.each(['30 2 * * *', '0,30 2 * * *', '30 2-2 * * *'])('in a skipped hour is due after: %s', (cron) => {
    // 02:00 to 03:00 do not exist on 29 March 2026.
    expect(due(cron, '2026-03-28T12:00:00Z', 2)).toMatch(/^2026-03-29T01:00 2026-03-30T00:[03]0$/);
  });

  test.each(['30 2 * * *', '30 2,14 * * *'])('in the repeated hour is due once: %s', (cron) => {
    // 02:00 to 03:00 happen twice on 25 October 2026.
    const second = cron === '30 2 * * *' ? '2026-10-26T01:30' : '2026-10-25T13:30';
    expect(due(cron, '2026-10-24T13:00:00Z', 2)).toBe(`2026-10-25T00:30 ${second}`);
  });

  test('of an interval follows the elapsed time, also when the clocks change', () => {
    expect(due('0 * * * *', '2026-10-24T23:30:00Z', 3)).toBe(
      '2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00',
    );
    expect(due('*/30 2 * * *', '2026-03-28T12:00:00Z', 1)).toBe('2026-03-30T00:00');
    expect(due('*/30 2 * * *', '2026-10-24T22:30:00Z', 4)).toBe(
      '2026-10-25T00:00 2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30',
    );
    expect(due('*/30 * * * *', '2026-03-29T00:00:00Z', 3)).toBe(
      '2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30',
    );
  });
});

test.each([
  ['0 3 * *', BERLIN, "'0 3 * *' does not have five fields"],
  ['0 0 3 * * *', BERLIN, "'0 0 3 * * *' does not have five fields"],
  ['2026-12-24T10:00:00', BERLIN, "'2026-12-24T10:00:00' does not have five fields"],
  ['61 3 * * *', BERLIN, "'61 3 * * *' is invalid: Invalid value for minute: 61"],
  ['0 0 30 2 *', BERLIN, "'0 0 30 2 *' is never due"],
  ['0 3 * * *', 'Europe/Berln', "'Europe/Berln' is not an IANA time zone"],
  ['0 3 * * *', '', 'the time zone is empty'],
  ['0 3 * * *', BERLIN, undefined],
])('%s in %s: %s', (cron, zone, problem) => {
  expect(cronProblem({ cron, zone })).toBe(problem);
});
