import { isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, type Scalar } from 'yaml';
import type { ConfigNode, ListNode, MapEntry, MapNode, ScalarNode } from './config-node.js';
import type { Mistake, Problems } from './problems.js';
import { readYamlDocument } from './yaml-syntax.js';

/** Maximum values of a file with its aliases expanded. A shard has about twenty. */
const MAXIMUM_VALUES = 100_000;

/** Reads YAML into a tree. Returns undefined if problems were reported. */
export function readYaml(text: string, problems: Problems): ConfigNode | undefined {
  const content = readYamlDocument(text, problems);
  if (content === undefined) return undefined;
  if (content === null) return emptyScalar(0);
  const before = problems.count;
  const node = new TreeBuilder(problems).build(content);
  return problems.count === before ? node : undefined;
}

/**
 * Builds the tree. An alias shares the node of its anchor, so the tree takes linear time and memory. The validator
 * walks the expanded tree, so expanded values are counted.
 */
class TreeBuilder {
  readonly #problems: Problems;
  readonly #anchors = new Map<string, { readonly node: ConfigNode; readonly weight: number }>();
  #weight = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  build(source: ParsedNode): ConfigNode {
    const before = this.#weight;
    this.#grow(1, source.range[0]);
    if (isAlias(source)) return this.#resolve(source.source, source.range[0]);
    const node = this.#convert(source);
    if (source.anchor !== undefined) {
      this.#anchors.set(source.anchor, { node, weight: this.#weight - before });
    }
    return node;
  }

  #convert(source: ParsedNode): ConfigNode {
    const offset = source.range[0];
    if (isMap(source)) return this.#map(source.items, offset);
    if (isSeq(source)) return this.#list(source.items, offset);
    if (isScalar(source)) return scalarNode(source, offset);
    return emptyScalar(offset);
  }

  #map(pairs: readonly Pair<ParsedNode, ParsedNode | null>[], offset: number): MapNode {
    const entries: MapEntry[] = [];
    for (const { key, value } of pairs) {
      if (this.#full) break;
      if (!isScalar(key)) continue; // the parser has refused every other key
      const keyOffset = key.range[0];
      const child = value === null ? emptyScalar(keyOffset) : this.build(value);
      entries.push({ key: String(key.value), keyOffset, value: child });
    }
    return { kind: 'map', offset, entries };
  }

  #list(sources: readonly ParsedNode[], offset: number): ListNode {
    const items: ConfigNode[] = [];
    for (const item of sources) {
      if (this.#full) break;
      items.push(this.build(item));
    }
    return { kind: 'list', offset, items };
  }

  #resolve(name: string, offset: number): ConfigNode {
    const anchor = this.#anchors.get(name);
    if (anchor === undefined) {
      this.#report(offset, {
        message: 'this alias refers to no earlier anchor',
        hint: 'put quotes around a value that starts with an asterisk',
      });
      return emptyScalar(offset);
    }
    this.#grow(anchor.weight, offset);
    return anchor.node;
  }

  get #full(): boolean {
    return this.#weight > MAXIMUM_VALUES;
  }

  #grow(weight: number, offset: number): void {
    if (this.#full) return;
    this.#weight += weight;
    if (this.#full) this.#report(offset, { message: 'the file has too many keys and values' });
  }

  #report(offset: number, mistake: Mistake): void {
    this.#problems.add({ path: '', offset }, mistake);
  }
}

function scalarNode(source: Scalar.Parsed, offset: number): ScalarNode {
  const { value } = source;
  if (value === null) return emptyScalar(offset);
  if (typeof value === 'string') return { kind: 'scalar', offset, type: 'text', text: value };
  const type = typeof value === 'boolean' ? 'boolean' : 'number';
  return { kind: 'scalar', offset, type, text: source.source };
}

function emptyScalar(offset: number): ScalarNode {
  return { kind: 'scalar', offset, type: 'nothing', text: '' };
}
