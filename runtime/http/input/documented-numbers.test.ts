import { describe, expect, it } from 'vitest';
import type { FieldType } from '../../domain/descriptor.js';
import { documentText } from '../../openapi/document-text.js';
import { documentedField } from '../../openapi/documented-schema.js';
import { compileConverter, type ValueSource } from './convert.js';
import { parseJsonText } from './json-text.js';
import { Refusal } from './refusal.js';

const field = { name: 'big', type: { kind: 'bigint' } } as const;
const none = {
  currency: () => ({}),
  named: () => undefined,
  variant: () => ({}),
  recursive: () => ({}),
  again: () => ({}),
};
const request = documentedField(field, { direction: 'request', ...none });
const response = documentedField(field, { direction: 'response', ...none });
const convert = compileConverter(field.type, 'json', false);
const [LARGEST, SMALLEST] = [2n ** 63n - 1n, -(2n ** 63n)];

function isAccepted(json: string): boolean {
  return !(convert(parseJsonText(json, 8)) instanceof Refusal);
}

/** Integers around each place where a digit of the largest one ends. */
function integers(): readonly bigint[] {
  const near = Array.from({ length: 19 }, (_, digits) => LARGEST - (LARGEST % 10n ** BigInt(digits)));
  const tens = Array.from({ length: 21 }, (_, digits) => 10n ** BigInt(digits));
  const around = [0n, LARGEST, -SMALLEST, ...near, ...tens].flatMap((each) => [each - 1n, each, each + 1n]);
  return around.flatMap((each) => [each, -each]);
}

describe('The document of an integer of 64 bits', () => {
  it('has a pattern that holds for exactly the texts that the server takes', () => {
    const pattern = new RegExp(String(request['pattern']));
    for (const integer of integers()) {
      const fits = integer >= SMALLEST && integer <= LARGEST;
      expect([integer, pattern.test(String(integer))]).toEqual([integer, fits]);
      expect([integer, isAccepted(`"${integer}"`)]).toEqual([integer, fits]);
    }
    for (const text of ['', '01', '+1', '1.0', ' 1', '1e3', '--1']) {
      expect([text, pattern.test(text), isAccepted(JSON.stringify(text))]).toEqual([text, false, false]);
    }
    expect(response['pattern']).toBe(request['pattern']);
  });

  it('has bounds that hold for exactly the numbers that the server takes, with all their digits', () => {
    const text = documentText(request);
    expect(text).toContain('"minimum":-9223372036854775808,"exclusiveMaximum":9223372036854775808');
    expect(JSON.parse(text)).toEqual(request);
    for (const integer of integers())
      expect(isAccepted(String(integer))).toBe(integer >= SMALLEST && integer < -SMALLEST);
  });
});

const TEXTS = [
  ...['0', '-0', '1', '-1', '12', '123', '1000', '00', '01', '+1', '', ' 1', '1 ', '.5', '5.', '-', '1.2.3'],
  ...['0.5', '1.5', '1.50', '1.500', '0.000', '0.00', '-0.0', '12.34', '123.4', '1.0', '1,5', 'NaN'],
  ...['1e2', '1E2', '1e-2', '0e0', '1.5e0', '1e+1'],
];

describe.each([
  [5, 2],
  [2, 0],
  [2, 2],
])('The document of a decimal with %s digits, %s of them decimals,', (precision, scale) => {
  const type = { kind: 'decimal', precision, scale } as const satisfies FieldType;
  const schema = documentedField({ name: 'amount', type }, { direction: 'request', ...none });
  const pattern = new RegExp(String(schema['pattern']));
  const isAccepted = (value: unknown, source: ValueSource): boolean =>
    !(compileConverter(type, source, false)(value) instanceof Refusal);

  it('has a pattern that holds for exactly the texts that the server takes, in JSON, paths and queries', () => {
    const taken = (text: string): readonly boolean[] => [isAccepted(text, 'json'), isAccepted(text, 'text')];
    for (const text of TEXTS) {
      const fits = pattern.test(text);
      expect([text, ...taken(text)]).toEqual([text, fits, fits]);
    }
  });

  it('takes JSON numbers of the same value, in any notation', () => {
    for (const json of ['0e0', '0.0', '0.00000', '0e-9'])
      expect(isAccepted(parseJsonText(json, 8), 'json')).toBe(true);
  });
});

it('A decimal with an exponent in a string is refused for its exponent', () => {
  const convert = compileConverter({ kind: 'decimal', precision: 5, scale: 2 }, 'json', false);
  expect(convert('1e2')).toMatchObject({ reason: 'must be written without an exponent, like "10.25"' });
});
