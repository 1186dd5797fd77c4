import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { VirtualClock } from './virtual-clock.js';

describe('VirtualClock', () => {
  test('stands still', () => {
    const clock = new VirtualClock();
    expect(clock.now()).toEqual(clock.now());
    expect(clock.now().toISOString()).toBe('2025-01-01T00:00:00.000Z');
  });

  test('moves when set, even backwards', () => {
    const clock = new VirtualClock('2025-06-01T00:00:00Z');
    expect(clock.advance(1_500).now().toISOString()).toBe('2025-06-01T00:00:01.500Z');
    expect(clock.advance(-1_500).now().toISOString()).toBe('2025-06-01T00:00:00.000Z');
    expect(clock.set(new Date(0)).now().getTime()).toBe(0);
  });

  test('is not changed by mutations of its dates', () => {
    const clock = new VirtualClock();
    clock.now().setFullYear(1999);
    expect(clock.now().getUTCFullYear()).toBe(2025);
  });

  test('refuses invalid dates', () => {
    expect(() => new VirtualClock('tomorrow')).toThrow(ValidationError);
    expect(() => new VirtualClock().set('')).toThrow(ValidationError);
    expect(() => new VirtualClock().advance(Number.NaN)).toThrow(ValidationError);
  });
});
