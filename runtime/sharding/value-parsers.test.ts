import { describe, expect, it } from 'vitest';
import { parseArray, parseInstant, parserFor } from './value-parsers.js';

describe('parseInstant', () => {
  it.each([
    ['2024-01-02 03:04:05+00', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02 03:04:05.1+00', '2024-01-02T03:04:05.100Z'],
    ['2024-01-02 03:04:05.123999+00', '2024-01-02T03:04:05.123Z'],
    ['1969-12-31 23:59:59.999999+00', '1969-12-31T23:59:59.999Z'],
    ['0099-03-01 00:00:00+00', '0099-03-01T00:00:00.000Z'],
    ['12024-01-02 03:04:05+00', '+012024-01-02T03:04:05.000Z'],
    ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
    ['2024-01-02 03:04:05.5+05:30', '2024-01-01T21:34:05.500Z'],
    ['2024-01-02 03:04:05-03', '2024-01-02T06:04:05.000Z'],
    ['1883-11-18 12:00:00.123456-04:56:02', '1883-11-18T16:56:02.123Z'],
    ['1883-11-18 12:00:00+00:19:32', '1883-11-18T11:40:28.000Z'],
  ])('reads %s', (text, expected) => {
    expect(parseInstant(text).toISOString()).toBe(expected);
  });

  it.each(['infinity', '-infinity', 'Tue Jan 02 03:04:05 2024 UTC', ''])('refuses %s', (text) => {
    expect(() => parseInstant(text)).toThrow('has no instant');
  });
});

it('parseArray reads quoted, null, nested and bounded elements', () => {
  expect(parseArray('{}', String)).toEqual([]);
  expect(parseArray('{1,NULL,3}', Number)).toEqual([1, null, 3]);
  expect(parseArray('{"a,b","c\\"d\\\\","NULL",""}', String)).toEqual(['a,b', 'c"d\\', 'NULL', '']);
  expect(parseArray('{{1,2},{3,4}}', Number)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(parseArray('[0:1]={7,8}', Number)).toEqual([7, 8]);
});

it('parserFor leaves types that it does not know as text', () => {
  expect(parserFor(99_999)('{x}')).toBe('{x}');
});
