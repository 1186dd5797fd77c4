import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { principalName } from './principal.js';

describe('principalName', () => {
  test('reads an object with a name', () => {
    expect(principalName({ name: 'alice' })).toBe('alice');
  });

  test('calls a function that returns a name', () => {
    expect(principalName(() => 'alice')).toBe('alice');
  });

  test.each([
    ['an empty name', { name: '' }],
    ['a function that returns nothing', () => ''],
    ['a name that is a number', JSON.parse('{"name": 5}')],
    ['null', JSON.parse('null')],
  ])('refuses %s', (_, principal) => {
    expect(() => principalName(principal)).toThrow(ValidationError);
  });
});
