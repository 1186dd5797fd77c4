import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { ownPrincipal, principalName, principalOf, storedPrincipal } from './principal.js';

describe('principalName', () => {
  test.each([
    ['of an object', { name: 'alice' }, 'alice'],
    ['that a function returns', () => 'alice', 'alice'],
    ['with any other character', { name: 'Zoë\n😀' }, 'Zoë\n😀'],
    ['of the runtime', ownPrincipal('handler:Mailer'), 'fw:handler:Mailer'],
    ['of the runtime, as stored', storedPrincipal('fw:handler:Mailer'), 'fw:handler:Mailer'],
  ])('reads a name %s', (_, principal, name) => {
    expect(principalName(principal)).toBe(name);
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

describe('principalOf', () => {
  test('gives a caller without claims empty ones', () => {
    expect(principalOf(() => 'alice')).toMatchObject({ name: 'alice', claims: {} });
    expect(principalOf({ name: 'alice', claims: {} }).claimsJson).toBeUndefined();
  });

  test('copies claims as JSON, so later changes of the object have no effect', () => {
    const claims: Record<string, string> = { role: 'clerk' };
    const principal = principalOf({ name: 'alice', claims });
    claims['role'] = 'operator';
    expect(principal.claims).toEqual({ role: 'clerk' });
    expect(storedPrincipal('alice', { role: 'clerk' })).toEqual(principal);
    expect(principalOf(principal)).toBe(principal);
  });

  test('accepts claims that contain the text of an escape', () => {
    expect(principalOf({ name: 'alice', claims: { path: '\\u0000', emoji: '😀' } }).claims).toEqual({
      path: '\\u0000',
      emoji: '😀',
    });
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  test.each([
    ['a text', 'operator'],
    ['a list', ['operator']],
    ['null', null],
    ['a circle', circle],
    ['more than 4,096 bytes', { text: 'é'.repeat(2_100) }],
    ['NUL', { text: 'a\0' }],
    ['half of a surrogate pair', { text: '\\\ud800' }],
  ])('refuses claims that are or hold %s', (_, claims) => {
    expect(() => principalOf({ name: 'alice', claims: claims as never })).toThrow(ValidationError);
  });
});
