import { memoize } from '../collections/memoize.js';
import type { FieldType } from './descriptor.js';
import { type Entity, fieldOf, type ModelDescriptor } from './entity.js';
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

const documentFields = memoize(({ columns }: ModelDescriptor) =>
  columns
    .filter((column) => columnKindOf(column) === undefined)
    .map(({ field, type }) => ({ field, copy: copierOf(type, field) })),
);

/**
 * The documents of a state to be staged, by field, as they will be read. Later executions start from the state, while the
 * owner of an array or object in it may change that at any time. Undefined: the model has none.
 */
export function frozenDocuments(
  descriptor: ModelDescriptor,
  model: Entity,
): Readonly<Record<string, unknown>> | undefined {
  const fields = documentFields(descriptor);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map(({ field, copy }) => [field, frozenDocument(fieldOf(model, field), copy)]),
  );
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
