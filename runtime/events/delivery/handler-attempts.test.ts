import { expect, test } from 'vitest';
import type { HandlerSettings } from '../../action/markers.js';
import { SILENT } from '../../domain/logger.js';
import { DeadlineExceededError, RetryLater, ShardUnavailableError, ValidationError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { handlerOf } from '../test-support/ledger.js';
import { HandlerAttempts } from './handler-attempts.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

const handler = (settings: HandlerSettings): HandlerDescriptor => ({
  ...handlerOf('Mirror', () => {}),
  ...settings,
});

/** The handler starts no action. */
const idle: ActionRunner = { execute: () => Promise.reject(new Error('none')) };
const attemptsOf = (descriptor: HandlerDescriptor): HandlerAttempts =>
  new HandlerAttempts(descriptor, idle, Math.random);

/** What becomes of an event after this error, as its attempt of this number. */
const judged = (attempts: HandlerAttempts, error: unknown, number = 1) =>
  attempts.judge(error, { attempts: number - 1, passed: 0 });

test('an attempt is the last one when the maximum is reached', () => {
  const attempts = attemptsOf(handler({ maximumAttempts: 3 }));
  const kinds = [1, 2, 3, 4].map((number) => judged(attempts, new Error('no'), number).kind);
  expect(kinds).toEqual(['retry', 'retry', 'park', 'park']);
});

test('an attempt with a passing failure is never the last one', () => {
  const patient = {
    ...handler({ maximumAttempts: 1 }),
    passes: (error: unknown) => error instanceof RangeError,
  };
  const attempts = attemptsOf(patient);
  expect(judged(attempts, new RangeError('later'), 1_000).kind).toBe('pass');
  expect(judged(attempts, new TypeError('never'), 1_000).kind).toBe('park');
});

test.each([
  ['did not answer in time', { phase: 'in-flight', reason: 'deadline' }, true],
  ['could not be reached', { phase: 'not-sent', reason: 'unreachable' }, true],
  ['had no connection free', { phase: 'not-sent', reason: 'pool-exhausted' }, true],
  ['cancelled the statement itself', { phase: 'in-flight', sqlState: '57014' }, false],
] as const)('of a database that %s, whether an attempt does not count: %s', (_what, facts, passes) => {
  const expected = passes ? 'pass' : 'park';
  const attempts = attemptsOf(handler({ maximumAttempts: 1 }));
  const cause = new DriverFailure('no', facts);
  expect(judged(attempts, cause).kind).toBe(expected);
  expect(judged(attempts, new DeadlineExceededError('too late', { cause })).kind).toBe(expected);
  expect(judged(attempts, new DeadlineExceededError('the handler itself was slow')).kind).toBe('park');
});

test('only a failure of another database lets other models go ahead of those that wait', () => {
  const attempts = attemptsOf(handler({}));
  const cause = new DriverFailure('no', { phase: 'not-sent', reason: 'unreachable' });
  const down = new ShardUnavailableError('(1, 0)', 'it is down', { cause });
  expect(judged(attempts, down)).toMatchObject({ kind: 'pass', cause: 'elsewhere' });
  expect(judged(attempts, new RetryLater())).toMatchObject({ kind: 'pass', cause: 'receiver' });
  expect(judged(attempts, new Error('a fault of the handler')).kind).toBe('retry');
});

test('the attempts of a default handler survive an outage of ten minutes, those of a transactional one are soon over', () => {
  const shortest = (settings: HandlerSettings): number => {
    const attempts = new HandlerAttempts(handler(settings), idle, () => 0);
    for (let [number, ms] = [1, 0]; ; number += 1) {
      const verdict = judged(attempts, new Error('down'), number);
      if (!('pauseMs' in verdict)) return ms;
      ms += verdict.pauseMs;
    }
  };
  expect(shortest({})).toBeGreaterThan(600_000);
  expect(shortest({})).toBeLessThan(700_000);
  expect(shortest({ transactional: true })).toBeLessThan(2_000);
});

test('the pause for a receiver that is down is its own, or grows up to five minutes', () => {
  const attempts = attemptsOf(handler({}));
  const pauseMs = (failures: number, error: RetryLater): number => {
    const verdict = attempts.judge(error, { attempts: 0, passed: failures - 1 });
    return 'pauseMs' in verdict ? verdict.pauseMs : expect.unreachable();
  };
  expect(pauseMs(1, new RetryLater({ afterMs: 60_000 }))).toBe(60_000);
  const pauses = [1, 5, 50].map((failures) => pauseMs(failures, new RetryLater()));
  expect(pauses[0]).toBeLessThanOrEqual(100);
  expect(pauses[1]).toBeLessThanOrEqual(1_600);
  expect(pauses[2]).toBeGreaterThanOrEqual(150_000);
  expect(pauses[2]).toBeLessThanOrEqual(300_000);
  expect(() => new RetryLater({ afterMs: Number.NaN })).toThrow(ValidationError);
});

test('a predicate that throws accepts no error', () => {
  const isTransient = (): boolean => {
    throw new Error('defect');
  };
  const descriptor = { ...handler({}), create: () => ({ handle: () => {}, isTransient }) };
  expect(judged(attemptsOf(descriptor), new Error('down')).kind).toBe('retry');
});

test('failed attempts of all events of a handler are one line a second', () => {
  const entries: object[] = [];
  const warn = (facts: object, message: string): void => void entries.push({ ...facts, message });
  const attempts = new HandlerAttempts(handler({}), idle, Math.random, { ...SILENT, warn });
  attempts.retrying('e1', 1, new ValidationError('a defect'));
  attempts.retrying('e2', 1, new ValidationError('a defect'));
  expect(entries).toEqual([
    {
      message: 'Mirror cannot handle event e1; it is attempted again',
      ...{ eventId: 'e1', attempt: 1, code: 'FW_VALIDATION', error: 'a defect', stack: expect.any(String) },
    },
  ]);
});
