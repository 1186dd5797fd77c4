import { isAlias, isMap, isScalar, type Pair, type ParsedNode, type Scalar } from 'yaml';
import type { ConfigNode, MapEntry, ScalarNode } from './config-node.js';
import type { Mistake, Problems } from './problems.js';
import { readYamlDocument } from './yaml-syntax.js';

/** Maximum values of a file with its aliases expanded. A shard has about twenty. */
const MAXIMUM_VALUES = 100_000;

/** Reads YAML into a tree. Returns undefined if problems were reported. */
export function readYaml(text: string, problems: Problems): ConfigNode | undefined {
  const content = readYamlDocument(text, problems);
  if (content === undefined) return undefined;
  const before = problems.count;
  const node = content === null ? emptyScalar(0) : new TreeBuilder(problems).build(content);
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
    const [offset] = source.range;
    this.#grow(1, offset);
    if (isAlias(source)) return this.#resolve(source.source, offset);
    const node = this.#convert(source, offset);
    if (source.anchor !== undefined)
      this.#anchors.set(source.anchor, { node, weight: this.#weight - before });
    return node;
  }

  #convert(source: ParsedNode, offset: number): ConfigNode {
    if (isScalar(source)) return scalarNode(source, offset);
    if (isAlias(source)) return emptyScalar(offset);
    // The rest of a hostile file is skipped.
    if (isMap(source)) {
      const entries = source.items.flatMap((pair) => (this.#isFull ? [] : this.#entry(pair)));
      return { kind: 'map', offset, entries };
    }
    const items = source.items.flatMap((item) => (this.#isFull ? [] : [this.build(item)]));
    return { kind: 'list', offset, items };
  }

  #entry({ key, value }: Pair<ParsedNode, ParsedNode | null>): MapEntry[] {
    if (!isScalar(key)) return []; // the parser has refused every other key
    const [keyOffset] = key.range;
    const node = value === null ? emptyScalar(keyOffset) : this.build(value);
    return [{ key: String(key.value), keyOffset, value: node }];
  }

  #resolve(name: string, offset: number): ConfigNode {
    const anchor = this.#anchors.get(name);
    if (anchor !== undefined) {
      this.#grow(anchor.weight, offset);
      return anchor.node;
    }
    const hint = 'put quotes around a value that starts with an asterisk';
    this.#report(offset, { message: 'this alias refers to no earlier anchor', hint });
    return emptyScalar(offset);
  }

  get #isFull(): boolean {
    return this.#weight > MAXIMUM_VALUES;
  }

  #grow(weight: number, offset: number): void {
    if (this.#isFull) return;
    this.#weight += weight;
    if (this.#isFull) this.#report(offset, { message: 'the file has too many keys and values' });
  }

  #report(offset: number, mistake: Mistake): void {
    this.#problems.add({ path: '', offset }, mistake);
  }
}

function scalarNode({ value, source }: Scalar.Parsed, offset: number): ScalarNode {
  if (value === null) return emptyScalar(offset);
  if (typeof value === 'string') return { kind: 'scalar', offset, type: 'text', text: value };
  return { kind: 'scalar', offset, type: typeof value === 'boolean' ? 'boolean' : 'number', text: source };
}

function emptyScalar(offset: number): ScalarNode {
  return { kind: 'scalar', offset, type: 'nothing', text: '' };
}
