import { expect, test } from 'vitest';
import type { HandlerSettings } from '../../action/markers.js';
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

test('an attempt is the last one when the maximum is reached', () => {
  const attempts = attemptsOf(handler({ maximumAttempts: 3 }));
  expect([1, 2, 3, 4].map((number) => attempts.isLast(number, new Error('no')))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test('an attempt with a passing failure is never the last one', () => {
  const patient = {
    ...handler({ maximumAttempts: 1 }),
    passes: (error: unknown) => error instanceof RangeError,
  };
  const attempts = attemptsOf(patient);
  expect(attempts.isLast(1_000, new RangeError('later'))).toBe(false);
  expect(attempts.isLast(1_000, new TypeError('never'))).toBe(true);
});

test.each([
  ['did not answer in time', { phase: 'in-flight', reason: 'deadline' }, true],
  ['could not be reached', { phase: 'not-sent', reason: 'unreachable' }, true],
  ['had no connection free', { phase: 'not-sent', reason: 'pool-exhausted' }, true],
  ['cancelled the statement itself', { phase: 'in-flight', sqlState: '57014' }, false],
] as const)('of a database that %s, whether an attempt does not count: %s', (_what, facts, passes) => {
  const attempts = attemptsOf(handler({ maximumAttempts: 1 }));
  const cause = new DriverFailure('no', facts);
  expect(attempts.isPassing(cause)).toBe(passes);
  expect(attempts.isPassing(new DeadlineExceededError('too late', { cause }))).toBe(passes);
  expect(attempts.isPassing(new DeadlineExceededError('the handler itself was slow'))).toBe(false);
});

test('only a failure of another database lets other models go ahead of those that wait', () => {
  const attempts = attemptsOf(handler({}));
  const cause = new DriverFailure('no', { phase: 'not-sent', reason: 'unreachable' });
  expect(attempts.isElsewhere(new ShardUnavailableError('(1, 0)', 'it is down', { cause }))).toBe(true);
  expect(attempts.isElsewhere(new RetryLater())).toBe(false);
  expect(attempts.isElsewhere(new Error('a fault of the handler'))).toBe(false);
});

test('the attempts of a default handler survive an outage of ten minutes, those of a transactional one are soon over', () => {
  const shortest = (settings: HandlerSettings): number => {
    const attempts = new HandlerAttempts(handler(settings), idle, () => 0);
    let ms = 0;
    for (let number = 1; !attempts.isLast(number, new Error('down')); number += 1)
      ms += attempts.pauseMs(number);
    return ms;
  };
  expect(shortest({})).toBeGreaterThan(600_000);
  expect(shortest({})).toBeLessThan(700_000);
  expect(shortest({ transactional: true })).toBeLessThan(2_000);
});

test('the pause for a receiver that is down is its own, or grows up to five minutes', () => {
  const attempts = attemptsOf(handler({}));
  expect(attempts.passingPauseMs(1, new RetryLater({ afterMs: 60_000 }))).toBe(60_000);
  const pauses = [1, 5, 50].map((failures) => attempts.passingPauseMs(failures, new RetryLater()));
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
  expect(attemptsOf(descriptor).isPassing(new Error('down'))).toBe(false);
});
