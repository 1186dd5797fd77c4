import { memoize } from '../collections/memoize.js';
import { type Entity, fieldOf, type ModelDescriptor } from './entity.js';
import { isPlainObject } from './json.js';
import { columnKindOf } from './kinds/kinds.js';

/** Documents that no code can change. */
const frozen = new WeakSet<object>();

/** Freezes a document that nothing else refers to, such as one that was read. */
export function freezeDocument(document: unknown): unknown {
  freezeAll(document);
  if (typeof document === 'object' && document !== null) frozen.add(document);
  return document;
}

function freezeAll(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  Object.values(value).forEach(freezeAll);
}

const documentFields = memoize(({ columns }: ModelDescriptor) =>
  columns.filter((column) => columnKindOf(column) === undefined).map(({ field }) => field),
);

/**
 * The documents of a state to be staged, by field. Later executions start from the state, while the owner of an array or
 * object in it may change that at any time. Undefined: the model has none.
 */
export function frozenDocuments(
  descriptor: ModelDescriptor,
  model: Entity,
): Readonly<Record<string, unknown>> | undefined {
  const fields = documentFields(descriptor);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(fields.map((field) => [field, frozenDocument(fieldOf(model, field))]));
}

function frozenDocument(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || frozen.has(document)) return document;
  try {
    const copy = frozenCopy(document);
    frozen.add(copy);
    return copy;
  } catch (error) {
    // Too many levels, or a cycle: its writer refuses it.
    if (error instanceof RangeError) return document;
    throw error;
  }
}

/** A copy of lists, plain objects and dates; instances of other classes, such as ids and decimals, stay. */
function frozenCopy(value: object): object {
  if (frozen.has(value)) return value;
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return Object.freeze(Array.from(value, copyPart));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, copyPart(part)] as const);
  return Object.freeze(Object.fromEntries(entries));
}

function copyPart(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? frozenCopy(value) : value;
}
