import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { ownPrincipal, principalName, storedPrincipal } from './principal.js';

describe('principalName', () => {
  test('reads an object with a name', () => {
    expect(principalName({ name: 'alice' })).toBe('alice');
  });

  test('calls a function that returns a name', () => {
    expect(principalName(() => 'alice')).toBe('alice');
  });

  test('takes any other character', () => {
    expect(principalName({ name: 'Zoë\n😀' })).toBe('Zoë\n😀');
  });

  test('takes the runtime at its word', () => {
    expect(principalName(ownPrincipal('handler:Mailer'))).toBe('fw:handler:Mailer');
    expect(principalName(storedPrincipal('fw:handler:Mailer'))).toBe('fw:handler:Mailer');
  });

  test.each([
    ['an empty name', { name: '' }],
    ['a function that returns nothing', () => ''],
    ['a name that is a number', JSON.parse('{"name": 5}')],
    ['null', JSON.parse('null')],
    ['a name that the runtime gives itself', { name: 'fw:handler:Mailer' }],
    ['the same by a function', () => 'fw:'],
    ['a copy of a principal of the runtime', { ...ownPrincipal('handler:Mailer') }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with NUL', { name: 'mallory\0' }],
    ['half of a surrogate pair, which would be stored as another name', () => 'tenant-\ud800'],
  ])('refuses %s', (_, principal) => {
    expect(() => principalName(principal)).toThrow(ValidationError);
  });
});
