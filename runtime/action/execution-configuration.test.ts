import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { ExecutionConfiguration, type ExecutionConfigurationBuilder } from './execution-configuration.js';

const builder = (): ExecutionConfigurationBuilder => ExecutionConfiguration.Builder.executionConfiguration();

describe('ExecutionConfiguration', () => {
  test('is frozen and not affected by later changes of its builder', () => {
    const changing = builder();
    const configuration = changing.build();
    changing.allowCrossShard(true);
    expect(configuration.allowCrossShard).toBe(false);
    expect(Object.isFrozen(configuration)).toBe(true);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a timeout of %d ms', (timeoutMs) => {
    expect(() => builder().timeoutMs(timeoutMs)).toThrow(ValidationError);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d attempts', (attempts) => {
    expect(() => builder().maximumAttempts(attempts)).toThrow(
      'maximumAttempts must be an integer of at least 1',
    );
  });

  test('accepts an idempotency key of up to 255 visible ASCII characters', () => {
    expect(builder().idempotencyKey('k'.repeat(255)).build().idempotencyKey).toHaveLength(255);
  });

  test.each(['', 'k'.repeat(256), 'a b', 'a\n', 'a\0', 'ключ'])('refuses %j as an idempotency key', (key) => {
    expect(() => builder().idempotencyKey(key)).toThrow(ValidationError);
  });

  const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  test.each([
    ['an empty text', ''],
    ['NUL', '00-\0'],
    ['half of a surrogate pair', '00-\ud800'],
    ['a line end', `${TRACE}\n`],
    ['15 kB', `${TRACE}-${'x'.repeat(15_000)}`],
    ['what a later version adds', `cc${TRACE.slice(2)}-more`],
    ['capital letters', TRACE.toUpperCase()],
    ['version ff', `ff${TRACE.slice(2)}`],
    ['no trace id', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['no parent id', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
  ])('refuses %s as a trace context, which every event would keep', (_, context) => {
    expect(() => builder().traceContext(context)).toThrow(ValidationError);
  });
});
