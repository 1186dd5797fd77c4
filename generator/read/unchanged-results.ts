import { headOf } from '../schema/outline.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { Found } from './found.js';

/** Whether two results of a file are equal except for lines. Emitted texts do not depend on lines. */
export function isSameResult(a: Partial<Found>, b: Partial<Found>): boolean {
  return isSame(a, b, false);
}

/** Whether two results of a file are equal including lines. */
export function isIdenticalResult(a: Partial<Found>, b: Partial<Found>): boolean {
  return isSame(a, b, true);
}

/** Returns the models whose bodies differ between two results; undefined if anything else differs. */
export function changedModels(
  before: Partial<Found>,
  after: Partial<Found>,
): readonly ModelSchema[] | undefined {
  const { models: old = [], ...others } = before;
  const { models = [], ...othersNow } = after;
  const isOnlyBodies = isSame(old.map(headOf), models.map(headOf), false) && isSame(others, othersNow, false);
  return isOnlyBodies ? models.filter((model, index) => !isSame(old[index], model, false)) : undefined;
}

/** @param isData whether the values are part of user data, in which no property is a source location */
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

/** An undefined property equals an absent property, as in JSON. */
function propertiesOf(object: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(object).filter(([, value]) => value !== undefined));
}

function isPlace(value: object): boolean {
  return 'file' in value && 'line' in value && 'column' in value;
}
