import { expect, test } from 'vitest';
import type { JsonValue } from '../schema/json-value.js';
import type { ActionSchema, HandlerSchema } from '../schema/project-schema.js';
import type { Found } from './found.js';
import { isIdenticalResult, isSameResult } from './unchanged-results.js';

function found(line: number, example: JsonValue): Partial<Found> {
  const location = { file: 'a.ts', line, column: 1 };
  const action: ActionSchema = {
    className: 'Act',
    name: 'Act',
    file: 'a.ts',
    location,
    params: [{ name: 'a', type: { kind: 'string' }, optional: false, nullable: false, tags: [], location }],
    result: { kind: 'void' },
    resultOptional: false,
    resultNullable: false,
    collaborators: [],
    stagingCalls: 0,
    route: { method: 'POST', path: '/a', location, example },
  };
  return { actions: [action] };
}

test('declarations on other lines are equal, but not identical', () => {
  expect(isSameResult(found(1, null), found(2, null))).toBe(true);
  expect(isIdenticalResult(found(1, null), found(2, null))).toBe(false);
  expect(isIdenticalResult(found(1, null), found(1, null))).toBe(true);
});

test('values of the user are never treated as locations', () => {
  const place = (line: number): JsonValue => ({ at: { file: 'x', line, column: 1 } });
  expect(isSameResult(found(1, place(1)), found(2, place(1)))).toBe(true);
  expect(isSameResult(found(1, place(1)), found(2, place(2)))).toBe(false);
});

test('different, added and removed values are not equal', () => {
  expect(isSameResult(found(1, [1]), found(1, [2]))).toBe(false);
  expect(isSameResult(found(1, [1]), found(1, { 0: 1 }))).toBe(false);
  expect(isSameResult(found(1, null), {})).toBe(false);
  expect(isSameResult({}, found(1, null))).toBe(false);
});

test('a stored and restored result is identical, although JSON has no undefined', () => {
  const location = { file: 'a.ts', line: 1, column: 1 };
  const handler: HandlerSchema = {
    className: 'Mail',
    name: 'Mail',
    file: 'a.ts',
    location,
    events: [{ name: 'Made', file: 'b.ts', location }],
    options: {
      aliases: undefined,
      concurrency: 2,
      maximumAttempts: undefined,
      retryDelayMs: undefined,
      transactional: undefined,
      startFrom: undefined,
    },
    collaborators: [],
  };
  const stored: Partial<Found> = JSON.parse(JSON.stringify({ handlers: [handler] }));
  expect(isIdenticalResult(stored, { handlers: [handler] })).toBe(true);
});
