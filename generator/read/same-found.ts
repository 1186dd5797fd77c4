import { headOf } from '../schema/outline.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { Found } from './read-memory.js';

/** True if two looks at a file found the same, wherever in the file: nothing that is emitted hangs on lines. */
export function isSameFound(a: Partial<Found>, b: Partial<Found>): boolean {
  return isSame(a, b, false);
}

/** True if two looks at a file found the same, at the same places. */
export function isIdenticalFound(a: Partial<Found>, b: Partial<Found>): boolean {
  return isSame(a, b, true);
}

/**
 * Models of which a later look at a file found another body, if it found nothing else that is new: nothing that any
 * other declaration can see.
 */
export function changedBodies(
  before: Partial<Found>,
  after: Partial<Found>,
): readonly ModelSchema[] | undefined {
  const { models: old = [], ...others } = before;
  const { models = [], ...othersNow } = after;
  if (!isSame(old.map(headOf), models.map(headOf), false) || !isSame(others, othersNow, false))
    return undefined;
  return models.filter((model, index) => !isSame(old[index], model, false));
}

/** @param isData inside a value of the user's own, in which nothing is a place */
function isSame(a: unknown, b: unknown, isData: boolean): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (!isData && isPlace(a) && isPlace(b)) return true;
  const entries = propertiesOf(a);
  const others = propertiesOf(b);
  if (entries.size !== others.size) return false;
  for (const [key, value] of entries) {
    if (!others.has(key) || !isSame(value, others.get(key), isData || key === 'example')) return false;
  }
  return true;
}

/** A property that is undefined is one that is absent: JSON makes no difference. */
function propertiesOf(object: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(object).filter(([, value]) => value !== undefined));
}

function isPlace(value: object): boolean {
  return 'file' in value && 'line' in value && 'column' in value;
}
