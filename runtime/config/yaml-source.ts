import { isAlias, isMap, isScalar, type Pair, type ParsedNode, type Scalar } from 'yaml';
import type { ConfigNode, MapEntry, ScalarNode } from './config-node.js';
import type { Mistake, Problems } from './problems.js';
import { MAXIMUM_DEPTH, readYamlDocument, TOO_DEEP } from './yaml-syntax.js';

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
 * Builds the tree. The node of an anchor is built again for each alias, so that the limit of values is that of the
 * expanded tree, which the validator walks.
 */
class TreeBuilder {
  readonly #problems: Problems;
  readonly #anchors = new Map<string, ParsedNode>();
  #values = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  build(source: ParsedNode, depth = 0): ConfigNode {
    const node = this.#convert(source, depth);
    if (!isAlias(source) && source.anchor !== undefined) this.#anchors.set(source.anchor, source);
    return node;
  }

  #convert(source: ParsedNode, depth: number): ConfigNode {
    const [offset] = source.range;
    // The rest of a hostile file is skipped.
    if (this.#values > MAXIMUM_VALUES) return emptyScalar(offset);
    this.#values += 1;
    if (this.#values > MAXIMUM_VALUES)
      return this.#refuse(offset, { message: 'the file has too many keys and values' });
    if (isScalar(source)) return scalarNode(source, offset);
    if (isAlias(source)) return this.#resolve(source.source, offset, depth);
    if (depth === MAXIMUM_DEPTH) return this.#refuse(offset, TOO_DEEP);
    if (isMap(source))
      return { kind: 'map', offset, entries: source.items.flatMap((pair) => this.#entry(pair, depth + 1)) };
    return { kind: 'list', offset, items: source.items.map((item) => this.build(item, depth + 1)) };
  }

  #entry({ key, value }: Pair<ParsedNode, ParsedNode | null>, depth: number): MapEntry[] {
    if (!isScalar(key)) return []; // the parser has refused every other key
    const [keyOffset] = key.range;
    const node = value === null ? emptyScalar(keyOffset) : this.build(value, depth);
    return [{ key: String(key.value), keyOffset, value: node }];
  }

  #resolve(name: string, offset: number, depth: number): ConfigNode {
    const anchored = this.#anchors.get(name);
    if (anchored !== undefined) return this.build(anchored, depth);
    const hint = 'put quotes around a value that starts with an asterisk';
    return this.#refuse(offset, { message: 'this alias refers to no earlier anchor', hint });
  }

  #refuse(offset: number, mistake: Mistake): ScalarNode {
    this.#problems.add({ path: '', offset }, mistake);
    return emptyScalar(offset);
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
