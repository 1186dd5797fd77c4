import { memoize } from '../collections/memoize.js';
import { type Entity, fieldOf, type ModelDescriptor } from './entity.js';
import type { JsonValue } from './json.js';
import { type DocumentCodec, documentCodec } from './json-codec.js';
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
  columns
    .filter((column) => columnKindOf(column) === undefined)
    .map(({ field, type }) => ({ field, codec: documentCodec(type, field) })),
);

/**
 * The documents of a state to be staged, by field, as its row will have them. Later executions start from the state: they
 * must find what they would read, while the owner of an array or object may change it at any time. Undefined: the model
 * has none.
 *
 * @throws ValidationError, naming the field, for a document that cannot be stored
 */
export function frozenDocuments(
  descriptor: ModelDescriptor,
  model: Entity,
): Readonly<Record<string, unknown>> | undefined {
  const fields = documentFields(descriptor);
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map(({ field, codec }) => [field, frozenDocument(fieldOf(model, field), codec)]),
  );
}

function frozenDocument(document: unknown, { write, read }: DocumentCodec): unknown {
  if (typeof document !== 'object' || document === null || frozen.has(document)) return document;
  return freezeDocument(read(JSON.parse(write(document)) as JsonValue));
}
