import { isPlainObject } from '../domain/json.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConfigNode, ScalarNode } from './config-node.js';
import { SecretText } from './secret.js';

/** Deeper than any configuration, so that cyclic objects end. */
const MAXIMUM_DEPTH = 12;

/**
 * Converts plain objects, arrays and scalars to the tree that YAML is converted to, so that one validator reads both. A
 * key with the value undefined counts as absent.
 */
export function readValue(value: unknown, depth = 0): ConfigNode {
  if (value instanceof SecretText) return { ...scalar('secret'), secret: value };
  if (value instanceof ShardIdentifier) return readValue({ group: value.group, member: value.member }, depth);
  const isDeep = depth >= MAXIMUM_DEPTH;
  if (!isDeep && Array.isArray(value))
    return { kind: 'list', offset: undefined, items: value.map((item) => readValue(item, depth + 1)) };
  if (!isDeep && isPlainObject(value)) {
    const entries = Object.entries(value)
      .filter(([, child]) => child !== undefined)
      .map(([key, child]) => ({ key, keyOffset: undefined, value: readValue(child, depth + 1) }));
    return { kind: 'map', offset: undefined, entries };
  }
  if (value === null || value === undefined) return scalar('nothing');
  if (typeof value === 'string') return scalar('text', value);
  if (typeof value === 'number') return scalar('number', String(value));
  if (typeof value === 'boolean') return scalar('boolean', String(value));
  return scalar('other');
}

function scalar(type: ScalarNode['type'], text = ''): ScalarNode {
  return { kind: 'scalar', offset: undefined, type, text };
}
