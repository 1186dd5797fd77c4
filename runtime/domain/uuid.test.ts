import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { canonicalUuid, parseUuid } from './uuid.js';

const UUID = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const DIGITS = [...'0123456789abcdef'];

describe.each([
  ['parseUuid', parseUuid, 'Not a UUID: '],
  ['canonicalUuid', (text: string) => canonicalUuid(text, 'owner'), 'owner is not a UUID: '],
] as const)('%s', (_name, read, message) => {
  test('keeps the canonical text form and converts upper case', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(read(uuid)).toBe(uuid);
        expect(read(uuid.toUpperCase())).toBe(uuid);
      }),
    );
  });

  test.each([
    ...DIGITS.map((version) => `6f3f6d58-6a8e-${version}b1e-9d5b-0d7f2f9f4a10`),
    ...DIGITS.map((variant) => `6f3f6d58-6a8e-4b1e-${variant}d5b-0d7f2f9f4a10`),
    '00000000-0000-0000-0000-000000000000',
  ])('takes %s of any version and variant', (uuid) => {
    expect(read(uuid)).toBe(uuid);
  });

  test.each([
    ['braces', `{${UUID}}`],
    ['a URN', `urn:uuid:${UUID}`],
    ['no hyphens', UUID.replaceAll('-', '')],
    ['other hyphens', '6f3f6d586a8e-4b1e-9d5b-0d7f-2f9f4a10'],
    ['space before', ` ${UUID}`],
    ['a line break behind', `${UUID}\n`],
    ['a letter beyond f', UUID.replace(/.$/, 'g')],
    ['a missing digit', UUID.slice(1)],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(() => read(text)).toThrow(ValidationError);
    expect(() => read(text)).toThrow(`${message}${JSON.stringify(text)}`);
  });
});

test('a refusal shows at most 64 characters of a text, and no other value', () => {
  expect(() => parseUuid('x'.repeat(10_000))).toThrow(`Not a UUID: "${'x'.repeat(64)}"`);
  expect(() => parseUuid(JSON.parse('{"secret": 1}'))).toThrow('Not a UUID: object');
});
