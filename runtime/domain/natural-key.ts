import type { FieldType, NaturalKey } from './descriptor.js';
import type { ModelDescriptor } from './entity.js';
import { descriptorOf, type Entity, fieldOf } from './entity.js';
import { ShardedId } from './id.js';
import { kindOf } from './kinds/kinds.js';
import type { ShardIdentifier } from './shard-identifier.js';

/**
 * Type only: emitted code adds this property, with the fields of the natural keys, to each model that has such keys.
 */
export declare const modelKeys: unique symbol;

/** A look-up by a natural key. */
export interface KeyLookup {
  readonly model: ModelDescriptor;
  readonly key: NaturalKey;
  readonly shard: ShardIdentifier;
  /** One text per field of the key: equal for values that the database treats as equal. */
  readonly texts: readonly string[];
  /** Identifies the key in this process. Equal for equal keys of one model on one shard. */
  readonly name: string;
}

/** Creates a look-up from texts of `keyTextOf`. */
export function keyLookup(
  model: ModelDescriptor,
  key: NaturalKey,
  shard: ShardIdentifier,
  texts: readonly string[],
): KeyLookup {
  return { model, key, shard, texts, name: nameOf(model, key, model.sharded ? shard : undefined, texts) };
}

/** The look-up of the model with the same key; undefined if a field of the key is null or absent. */
export function lookupOf(
  model: Entity,
  key: NaturalKey,
  defaultShard: ShardIdentifier,
): KeyLookup | undefined {
  const descriptor = descriptorOf(model);
  const texts = textsOf(descriptor, key, model);
  const shard = model.id instanceof ShardedId ? model.id.resolveShardIdentifier() : defaultShard;
  return texts === undefined ? undefined : keyLookup(descriptor, key, shard, texts);
}

const NONE: readonly string[] = Object.freeze([]);

/** Names of the keys that a model holds on its shard; none for a model without keys or in a deleted state. */
export function heldKeys(model: Entity): readonly string[] {
  const { keys } = descriptorOf(model);
  return keys === undefined ? NONE : keys.flatMap((key) => heldKey(model, key) ?? NONE);
}

/** The name of one key that a model holds on its shard; undefined if it does not hold it. */
export function heldKey(model: Entity, key: NaturalKey): string | undefined {
  const descriptor = descriptorOf(model);
  if (descriptor.deletedStates?.includes(model.state) === true) return undefined;
  const texts = textsOf(descriptor, key, model);
  const shard = model.id instanceof ShardedId ? model.id.resolveShardIdentifier() : undefined;
  return texts === undefined ? undefined : nameOf(descriptor, key, shard, texts);
}

/** The texts of a key of a stored row, joined; undefined if a field of it is null or absent. */
export function keyText(key: NaturalKey, model: Entity): string | undefined {
  const texts = textsOf(descriptorOf(model), key, model);
  return texts === undefined ? undefined : JSON.stringify(texts);
}

function nameOf(
  { name }: ModelDescriptor,
  { index }: NaturalKey,
  shard: ShardIdentifier | undefined,
  texts: readonly string[],
): string {
  return `${name} ${index} ${shard?.bits ?? ''} ${JSON.stringify(texts)}`;
}

function textsOf(
  { columns }: ModelDescriptor,
  { fields }: NaturalKey,
  model: Entity,
): readonly string[] | undefined {
  const texts: string[] = [];
  for (const field of fields) {
    const value = fieldOf(model, field);
    const column = columns.find((each) => each.field === field);
    // A unique index allows any number of rows with null in a column.
    if (value === null || value === undefined || column === undefined) return undefined;
    texts.push(keyTextOf(column.type, value));
  }
  return texts;
}

/** One value as text: two values have the same text exactly if the database treats them as equal. */
export function keyTextOf(type: FieldType, value: unknown): string {
  return (kindOf(type).column?.(type)?.keyText ?? String)(value);
}
