import { describe, expect, it } from 'vitest';
import { documentText } from '../../openapi/document-text.js';
import { documentedField } from '../../openapi/documented-schema.js';
import { compileConverter } from './convert.js';
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
