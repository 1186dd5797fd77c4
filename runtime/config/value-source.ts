import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConfigNode, MapEntry, ScalarNode } from './config-node.js';
import { SecretText } from './secret.js';

/** Deeper than any configuration, so that cyclic objects end. */
const MAXIMUM_DEPTH = 12;

/**
 * Converts plain objects, arrays and scalars to the tree that YAML is converted to, so that one validator reads both.
 */
export function readValue(value: unknown, depth = 0): ConfigNode {
  if (value instanceof SecretText) return { ...scalar('secret', ''), secret: value };
  if (value instanceof ShardIdentifier) return readValue({ group: value.group, member: value.member }, depth);
  if (depth < MAXIMUM_DEPTH && Array.isArray(value)) {
    return { kind: 'list', offset: undefined, items: value.map((item) => readValue(item, depth + 1)) };
  }
  if (depth < MAXIMUM_DEPTH && isPlainObject(value)) {
    return { kind: 'map', offset: undefined, entries: readEntries(value, depth + 1) };
  }
  return readScalar(value);
}

/** A key with the value undefined counts as absent. */
function readEntries(value: object, depth: number): MapEntry[] {
  return Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .map(([key, child]) => ({ key, keyOffset: undefined, value: readValue(child, depth) }));
}

function readScalar(value: unknown): ScalarNode {
  if (value === null || value === undefined) return scalar('nothing', '');
  if (typeof value === 'string') return scalar('text', value);
  if (typeof value === 'number') return scalar('number', String(value));
  if (typeof value === 'boolean') return scalar('boolean', String(value));
  return scalar('other', '');
}

function scalar(type: ScalarNode['type'], text: string): ScalarNode {
  return { kind: 'scalar', offset: undefined, type, text };
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
