import type { ConfigNode, ScalarNode } from './config-node.js';
import { type Located, type ReadContext, refuse } from './key.js';
import type { Mistake } from './problems.js';
import type { Secret } from './types.js';

/**
 * A scalar with its references replaced. A value with a reference, quoted or not, has no YAML type: the key's type
 * decides how its text is parsed. Without a reference, `"10"` is a text and never a number.
 */
export interface Scalar {
  readonly type: ScalarNode['type'] | 'referenced';
  readonly text: string;
  readonly secret?: Secret | undefined;
  /** The value as messages may show it. */
  readonly shown: string;
}

const TYPES: Readonly<Record<Scalar['type'], string>> = {
  text: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  nothing: 'nothing',
  secret: 'a secret',
  other: 'a value of another type',
  referenced: 'a string',
};

/**
 * @param wanted what the key takes, for messages
 * @param unset what an unset reference is a problem of
 */
export function readScalar(
  located: Located,
  context: ReadContext,
  wanted: string,
  unset: Mistake['unset'] = 'value',
): Scalar | undefined {
  const { node } = located;
  if (node.kind !== 'scalar' || node.type === 'other')
    return refuse(context, located, { message: `must be ${wanted}, found ${shownNode(node)}` });
  if (node.type === 'nothing')
    return refuse(context, located, {
      message: `has no value, but must be ${wanted}`,
      hint: 'give it one, or remove the key',
    });
  if (node.type !== 'text' || !node.text.includes('${') || context.references === undefined)
    return { type: node.type, text: node.text, secret: node.secret, shown: shownNode(node) };
  const { text, references, mistakes } = context.references.expand(node.text);
  for (const mistake of mistakes)
    refuse(context, located, mistake.unset === undefined ? mistake : { ...mistake, unset });
  if (mistakes.length > 0) return undefined;
  // Without a reference, only escapes were replaced: the value is an ordinary text.
  if (references.length === 0) return { type: 'text', text, shown: shownText(text) };
  return { type: 'referenced', text, shown: `the value of ${references.slice(0, 3).join(' and ')}` };
}

export function isText({ type }: Scalar): boolean {
  return type === 'text' || type === 'referenced';
}

/** The type of a value, for messages that must not show it. */
export function typeOf({ type }: Scalar): string {
  return TYPES[type];
}

/** The found value for messages, shortened. */
export function shownNode(node: ConfigNode): string {
  if (node.kind === 'map') return 'a section';
  if (node.kind === 'list') return 'a list';
  if (node.type === 'text') return shownText(node.text);
  if (node.type === 'boolean' || (node.type === 'number' && node.text.length <= 40)) return node.text;
  return TYPES[node.type];
}

function shownText(text: string): string {
  return text.length <= 40 ? `the string ${JSON.stringify(text)}` : 'a long string';
}
