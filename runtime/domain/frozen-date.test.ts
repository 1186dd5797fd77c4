import { expect, test } from 'vitest';
import { freezeDate, frozenDate } from './frozen-date.js';

const frozen = freezeDate(new Date(5));

test.each(Object.getOwnPropertyNames(Date.prototype).filter((name) => name.startsWith('set')))(
  'a frozen date refuses %s',
  (name) => {
    const change = Reflect.get(frozen, name) as (value: number) => number;
    expect(() => change.call(frozen, 1)).toThrow(
      new TypeError('A date of a model cannot be changed: change a copy, made by new Date(date)'),
    );
    expect(frozen.getTime()).toBe(5);
  },
);

test('a frozen date is a Date whose copies can be changed', () => {
  expect(frozen).toStrictEqual(new Date(5));
  expect(JSON.stringify(frozen)).toBe('"1970-01-01T00:00:00.005Z"');
  for (const copy of [
    new Date(frozen),
    new (frozen.constructor as DateConstructor)(frozen),
    structuredClone(frozen),
  ])
    expect(copy.setTime(6)).toBe(6);
});

test('a date is copied unless it is frozen', () => {
  const date = new Date(5);
  expect(frozenDate(date)).not.toBe(date);
  expect(frozenDate(frozen)).toBe(frozen);
});
