import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { StagedItem } from '../action/action-plan.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import { Decimal, plainDecimal } from '../domain/decimal.js';
import { Entity } from '../domain/entity.js';
import { Id } from '../domain/id.js';
import { isPlainObject } from '../domain/json.js';
import { ModelEvent } from '../domain/model-event.js';

/** The form in which assertions compare and print a value: numbers, ids and models by value. */
export function show(value: unknown): unknown {
  if (Decimal.isDecimal(value)) return `Decimal ${plainDecimal(value)}`;
  if (value instanceof Id) return `${value.modelName} ${value.getValue()}`;
  if (value instanceof ModelEvent) return showEvent(value);
  if (value instanceof Entity) return { model: value.constructor.name, ...showFields(value) };
  if (Array.isArray(value)) return value.map(show);
  return isPlainObject(value) ? showFields(value) : value;
}

/** An object's own fields; absent and undefined fields are equal. */
function showFields(value: object): Readonly<Record<string, unknown>> {
  const present = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(present.map(([name, field]) => [name, show(field)]));
}

/** `update Wallet 0194... to version 2` */
export function showItem({ kind, descriptor, model }: StagedItem): string {
  const name = `${descriptor.name} ${model.id.getValue()}`;
  switch (kind) {
    case 'add':
      return `add ${name}`;
    case 'update':
      return `update ${name} to version ${model.version}`;
    case 'expect':
      return `expect ${name} at version ${model.version}`;
  }
}

/** `schedule CloseAction at 2026-01-31T00:00:00.000Z` */
export function showSchedule({ actionClass, dueDate }: PlannedSchedule): string {
  return `schedule ${actionClass.name} at ${dueDate.toISOString()}`;
}

/** @throws AssertionError with the difference, unless both show the same */
export function assertShowsSame(actual: unknown, expected: unknown, headline: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  // Node.js writes the difference into the message of a deep comparison, after a first line of its own.
  const generated = new AssertionError({ actual, expected, operator: 'deepStrictEqual' });
  const [, ...difference] = generated.message.split('\n');
  throw new AssertionError({ actual, expected, message: [headline, ...difference].join('\n') });
}

/** @throws AssertionError with the difference, unless the model has these fields */
export function assertFields(model: object, expected: object, headline: string): void {
  const fields = model as Readonly<Record<string, unknown>>;
  const asked = Object.fromEntries(Object.keys(expected).map((name) => [name, fields[name]]));
  assertShowsSame(showFields(asked), showFields(expected), headline);
}

function showEvent(event: ModelEvent<unknown>): object {
  return {
    event: event.constructor.name,
    of: `${event.getModelName()} ${event.getModelId()}`,
    payload: showFields(event),
  };
}
