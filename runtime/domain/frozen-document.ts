import { memoize } from '../collections/memoize.js';
import type { FieldType } from './descriptor.js';
import { baseOf, type Entity, fieldOf, type ModelDescriptor } from './entity.js';
import { compileReader, compileWriter } from './json-codec.js';
import { jsonText } from './json-text.js';
import { columnKindOf, isJson } from './kinds/kinds.js';

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

const ownFields = memoize(({ columns }: ModelDescriptor) =>
  columns.flatMap((column) => {
    const { field, type } = column;
    if (type.kind === 'instant') return { field, own: ownDate };
    if (columnKindOf(column) !== undefined) return [];
    const copy = copierOf(type, field);
    return { field, own: (document: unknown) => frozenDocument(document, copy) };
  }),
);

/**
 * The documents and dates of a state to be staged, by field, as they will be read. Later executions start from the state,
 * while the owner of an array, object or date in it may change that at any time. Undefined: the model has none.
 */
export function ownValues(
  descriptor: ModelDescriptor,
  model: Entity,
): Readonly<Record<string, unknown>> | undefined {
  const fields = ownFields(descriptor);
  if (fields.length === 0) return undefined;
  const base = baseOf(model);
  return Object.fromEntries(
    fields.map(({ field, own }) => [field, own(fieldOf(model, field), base && fieldOf(base, field))]),
  );
}

/** A date of the stored state stays the same one, because it has more digits in the database. */
function ownDate(date: unknown, stored: unknown): unknown {
  return date instanceof Date && date !== stored ? new Date(date) : date;
}

function frozenDocument(document: unknown, copy: (document: unknown) => unknown): unknown {
  if (typeof document !== 'object' || document === null || frozen.has(document)) return document;
  try {
    return freezeDocument(copy(document));
  } catch {
    // Its writer refuses it.
    return document;
  }
}

/** Writes and reads documents of a type. */
function copierOf(type: FieldType, field: string): (document: unknown) => unknown {
  if (isJson(type)) return (document) => JSON.parse(jsonText(document, field));
  const write = compileWriter(type, field);
  const read = compileReader(type, field);
  return (document) => read(JSON.parse(write(document)));
}
