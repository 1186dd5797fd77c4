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

const ownFields = memoize(({ columns }: ModelDescriptor) =>
  columns.flatMap((column) => {
    const { field, type } = column;
    if (type.kind === 'instant') return { field, own: ownDate };
    if (columnKindOf(column) !== undefined) return [];
    const codec = documentCodec(type, field);
    return { field, own: (document: unknown) => frozenDocument(document, codec) };
  }),
);

/**
 * Documents and dates of a state to be staged that its owner may change at any time, by field, as their row will have
 * them: later executions start from the state, and must find what they would read. Undefined: there are none.
 *
 * @param base the stored state that it changes
 * @throws ValidationError, naming the field, for a document that cannot be stored
 */
export function ownValues(
  descriptor: ModelDescriptor,
  model: Entity,
  base?: Entity,
): Readonly<Record<string, unknown>> | undefined {
  let entries: (readonly [field: string, value: unknown])[] | undefined;
  for (const { field, own } of ownFields(descriptor)) {
    const value = fieldOf(model, field);
    const kept = own(value, base && fieldOf(base, field));
    if (kept === value) continue;
    entries ??= [];
    entries.push([field, kept]);
  }
  return entries && Object.fromEntries(entries);
}

/** A date of the stored state stays the same one, because it has more digits in the database. */
function ownDate(date: unknown, stored: unknown): unknown {
  return date instanceof Date && date !== stored ? new Date(date) : date;
}

function frozenDocument(document: unknown, { write, read }: DocumentCodec): unknown {
  if (typeof document !== 'object' || document === null || frozen.has(document)) return document;
  return freezeDocument(read(JSON.parse(write(document)) as JsonValue));
}
