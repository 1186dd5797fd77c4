import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { canonicalUuid, parseUuid } from './uuid.js';

describe('parseUuid', () => {
  test('keeps the canonical text form and converts upper case', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parseUuid(uuid)).toBe(uuid);
        expect(parseUuid(uuid.toUpperCase())).toBe(uuid);
      }),
    );
  });

  test.each([
    ['braces', '{6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10}'],
    ['a URN', 'urn:uuid:6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'],
    ['no hyphens', '6f3f6d586a8e4b1e9d5b0d7f2f9f4a10'],
    ['other hyphens', '6f3f6d586a8e-4b1e-9d5b-0d7f-2f9f4a10'],
    ['space before', ' 6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'],
    ['a line break behind', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10\n'],
    ['a letter beyond f', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a1g'],
    ['a missing digit', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a1'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(() => parseUuid(text)).toThrow(ValidationError);
  });

  test('refuses values that are not texts, without printing them', () => {
    expect(() => parseUuid(JSON.parse('{"secret": 1}'))).toThrow('Not a UUID: object');
  });

  test('shows at most 64 characters of a refused text', () => {
    expect(() => parseUuid('x'.repeat(10_000))).toThrow(`Not a UUID: "${'x'.repeat(64)}"`);
  });
});

describe('parseUuid and canonicalUuid', () => {
  const VERSIONS = [...'0123456789abcdef'].map((version) => `6f3f6d58-6a8e-${version}b1e-9d5b-0d7f2f9f4a10`);
  const VARIANTS = [...'0123456789abcdef'].map((variant) => `6f3f6d58-6a8e-4b1e-${variant}d5b-0d7f2f9f4a10`);

  test.each([...VERSIONS, ...VARIANTS, `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`])(
    'take %s alike',
    (uuid) => {
      expect([parseUuid(uuid), canonicalUuid(uuid, 'owner')]).toEqual([uuid, uuid]);
    },
  );
});

describe('canonicalUuid', () => {
  test('keeps the canonical text form and converts upper case', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(canonicalUuid(uuid, 'owner')).toBe(uuid);
        expect(canonicalUuid(uuid.toUpperCase(), 'owner')).toBe(uuid);
      }),
    );
  });

  test('accepts UUIDs without a version', () => {
    const uuid = 'c0ffee00-0000-0000-f000-000000000000';
    expect(canonicalUuid(uuid, 'owner')).toBe(uuid);
  });

  test.each(['{6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10}', '6f3f6d586a8e4b1e9d5b0d7f2f9f4a10', 'x', ''])(
    'refuses %j, naming the field',
    (text) => {
      expect(() => canonicalUuid(text, 'owner')).toThrow(ValidationError);
      expect(() => canonicalUuid(text, 'owner')).toThrow(`owner is not a UUID: "${text}"`);
    },
  );
});
