import type { Secret } from './types.js';

/**
 * A configuration as a tree. YAML and plain objects are both converted to it, and one validator reads it. `offset` is
 * the position in the file's text, undefined for a configuration built in code.
 */
export type ConfigNode = MapNode | ListNode | ScalarNode;

export interface MapNode {
  readonly kind: 'map';
  readonly offset: number | undefined;
  /** In the order of the source. A key may occur twice, which the validator refuses. */
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: string;
  readonly keyOffset: number | undefined;
  readonly value: ConfigNode;
}

export interface ListNode {
  readonly kind: 'list';
  readonly offset: number | undefined;
  readonly items: readonly ConfigNode[];
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly offset: number | undefined;
  /** `other` is a JavaScript value that a configuration cannot contain, such as a function. */
  readonly type: 'text' | 'number' | 'boolean' | 'nothing' | 'secret' | 'other';
  /** The text as written: `0x10` and `1e1` are not converted. Empty for a secret. */
  readonly text: string;
  readonly secret?: Secret;
}
