import { resolve } from 'node:path';
import type { ConfigNode, ScalarNode } from './config-node.js';
import { driverClassName, parseJdbcUrl } from './jdbc-url.js';
import type {
  BooleanKey,
  ChoiceKey,
  ChoicesKey,
  FolderKey,
  IntegerKey,
  SecretKey,
  TextKey,
  TextsKey,
} from './keys.js';
import type { Mistake, Place, Problems } from './problems.js';
import type { References } from './references.js';
import { SecretText } from './secret.js';
import { didYouMean } from './suggest.js';
import type { DatabaseUrl, Secret } from './types.js';

/** The context for reading one value. */
export interface ReadContext {
  readonly problems: Problems;
  /** Undefined for a configuration built in code, whose texts are taken literally. */
  readonly references: References | undefined;
  /** Folder against which relative paths are resolved. */
  readonly baseDirectory: string;
}

/** A value and its position. */
export interface Located {
  readonly node: ConfigNode;
  readonly place: Place;
}

/**
 * A scalar with its references replaced. A value with a reference, quoted or not, has no YAML type: the key's type
 * decides how its text is parsed. Without a reference, `"10"` is a text and never a number.
 */
interface Value {
  readonly type: ScalarNode['type'] | 'referenced';
  readonly text: string;
  readonly secret: Secret | undefined;
  /** The value as messages may show it. */
  readonly shown: string;
}

export function readText(context: ReadContext, key: TextKey, located: Located): string | undefined {
  const value = readValue(context, located, 'a string');
  if (value === undefined) return undefined;
  const { text } = value;
  if (!isText(value)) return refuse(context, located, notText(value));
  const mistake = lengthMistake(text, key.maximumLength) ?? printableMistake(text);
  return mistake === undefined ? text : refuse(context, located, mistake);
}

export function readSecret(context: ReadContext, key: SecretKey, located: Located): Secret | undefined {
  const value = readValue(context, located, 'a string', 'secret');
  if (value === undefined) return undefined;
  if (value.secret !== undefined) return value.secret;
  if (!isText(value)) {
    const hint = 'put quotes around it';
    return refuse(context, located, { message: `must be a string, found ${KINDS[value.type]}`, hint });
  }
  const mistake = lengthMistake(value.text, key.maximumLength);
  if (mistake !== undefined) return refuse(context, located, mistake);
  if (value.text.includes('\0')) return refuse(context, located, { message: 'contains a NUL character' });
  return SecretText.of(value.text);
}

export function readInteger(context: ReadContext, key: IntegerKey, located: Located): number | undefined {
  const { minimum, maximum } = key;
  const wanted = `an integer from ${minimum} to ${maximum}`;
  const value = readValue(context, located, wanted);
  if (value === undefined) return undefined;
  const typed = value.type === 'number' || value.type === 'referenced';
  const isInteger = /^-?(?:0|[1-9][0-9]{0,15})$/.test(value.text);
  const number = Number(value.text);
  if (typed && isInteger && number >= minimum && number <= maximum) return number;
  const hint = value.type === 'text' && isInteger ? 'remove the quotes' : undefined;
  return refuse(context, located, { message: `must be ${wanted}, found ${value.shown}`, hint });
}

export function readBoolean(context: ReadContext, _key: BooleanKey, located: Located): boolean | undefined {
  const value = readValue(context, located, 'true or false');
  if (value === undefined) return undefined;
  const text = value.type === 'boolean' ? value.text.toLowerCase() : value.text;
  const typed = value.type === 'boolean' || value.type === 'referenced';
  if (typed && (text === 'true' || text === 'false')) return text === 'true';
  return refuse(context, located, { message: `must be true or false, found ${value.shown}` });
}

/** An absolute path. */
export function readFolder(context: ReadContext, _key: FolderKey, located: Located): string | undefined {
  const value = readValue(context, located, 'a path');
  if (value === undefined) return undefined;
  if (!isText(value)) return refuse(context, located, notText(value));
  const mistake = lengthMistake(value.text, 4_096) ?? printableMistake(value.text);
  return mistake === undefined
    ? resolve(context.baseDirectory, value.text)
    : refuse(context, located, mistake);
}

export function readJdbcUrl(context: ReadContext, located: Located): DatabaseUrl | undefined {
  const value = readValue(context, located, 'a JDBC URL');
  if (value === undefined) return undefined;
  if (!isText(value)) return refuse(context, located, notText(value));
  const mistake = lengthMistake(value.text, 4_096);
  if (mistake !== undefined) return refuse(context, located, mistake);
  const result = parseJdbcUrl(value.text, context.baseDirectory);
  if ('url' in result) return result.url;
  for (const found of result.mistakes) context.problems.add(located.place, found);
  return undefined;
}

/** Reports a driver class that does not belong to the URL. */
export function checkDriverClass(
  context: ReadContext,
  located: Located,
  name: string,
  url: DatabaseUrl,
): void {
  const expected = driverClassName(url.kind);
  if (name === expected) return;
  const message = `this driver class does not belong to jdbc:${url.kind}`;
  context.problems.add(located.place, { message, hint: `use ${expected}, or remove the key` });
}

export function readTexts(context: ReadContext, key: TextsKey, located: Located): readonly string[] {
  const { node, place } = located;
  const fits = node.kind === 'list' && node.items.length >= 1 && node.items.length <= key.maximum;
  if (!fits) {
    const found = node.kind === 'list' ? `a list of ${node.items.length}` : shownNode(node);
    refuse(context, located, { message: `must be a list of 1 to ${key.maximum} strings, found ${found}` });
    return [];
  }
  const texts = new Set<string>();
  for (const [index, item] of node.items.entries()) {
    const child: Located = { node: item, place: { path: `${place.path}[${index}]`, offset: item.offset } };
    const text = readText(context, { ...key, kind: 'text' }, child);
    if (text === undefined) continue;
    if (texts.has(text)) refuse(context, child, { message: `${text} is listed twice` });
    texts.add(text);
  }
  return [...texts];
}

export function readChoices<Choice extends string>(
  context: ReadContext,
  key: ChoicesKey<Choice>,
  located: Located,
): readonly Choice[] {
  const { node, place } = located;
  if (node.kind !== 'list') {
    refuse(context, located, {
      message: `must be a list, found ${shownNode(node)}`,
      hint: `write [${key.choices[0]}]`,
    });
    return [];
  }
  const chosen = new Set<Choice>();
  for (const [index, item] of node.items.entries()) {
    const child: Located = { node: item, place: { path: `${place.path}[${index}]`, offset: item.offset } };
    const choice = readChoice(context, key, child);
    if (choice === undefined) continue;
    if (chosen.has(choice)) refuse(context, child, { message: `${choice} is listed twice` });
    chosen.add(choice);
  }
  return [...chosen];
}

export function readChoice<Choice extends string>(
  context: ReadContext,
  key: Pick<ChoiceKey<Choice>, 'choices'>,
  located: Located,
): Choice | undefined {
  const wanted = `one of ${key.choices.join(', ')}`;
  const value = readValue(context, located, wanted);
  if (value === undefined) return undefined;
  const choice = isText(value) ? key.choices.find((known) => known === value.text) : undefined;
  if (choice !== undefined) return choice;
  const message = `must be ${wanted}, found ${value.shown}`;
  return refuse(context, located, { message, hint: didYouMean(value.text, key.choices) });
}

function refuse(context: ReadContext, located: Located, mistake: Mistake): undefined {
  context.problems.add(located.place, mistake);
}

function readValue(
  context: ReadContext,
  located: Located,
  wanted: string,
  kind: 'value' | 'secret' = 'value',
): Value | undefined {
  const { node } = located;
  if (node.kind !== 'scalar' || node.type === 'other') {
    return refuse(context, located, { message: `must be ${wanted}, found ${shownNode(node)}` });
  }
  if (node.type === 'nothing') {
    const message = `has no value, but must be ${wanted}`;
    return refuse(context, located, { message, hint: 'give it one, or remove the key' });
  }
  if (node.type === 'text' && node.text.includes('${') && context.references !== undefined) {
    return expand({ ...context, references: context.references }, located, node.text, kind);
  }
  return { type: node.type, text: node.text, secret: node.secret, shown: shownNode(node) };
}

function expand(
  { problems, references }: ReadContext & { readonly references: References },
  located: Located,
  text: string,
  kind: 'value' | 'secret',
): Value | undefined {
  const expansion = references.expand(text);
  for (const mistake of expansion.mistakes)
    problems.add(located.place, mistake.unset === undefined ? mistake : { ...mistake, unset: kind });
  if (expansion.mistakes.length > 0) return undefined;
  if (expansion.references.length === 0) {
    // Only escapes were replaced: the value is an ordinary text.
    return { type: 'text', text: expansion.text, secret: undefined, shown: shownText(expansion.text) };
  }
  const shown = `the value of ${expansion.references.slice(0, 3).join(' and ')}`;
  return { type: 'referenced', text: expansion.text, secret: undefined, shown };
}

const KINDS: Readonly<Record<Value['type'], string>> = {
  text: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  nothing: 'nothing',
  secret: 'a secret',
  other: 'a value of another type',
  referenced: 'a string',
};

function isText(value: Value): boolean {
  return value.type === 'text' || value.type === 'referenced';
}

function notText(value: Value): Mistake {
  return { message: `must be a string, found ${value.shown}`, hint: 'put quotes around it' };
}

function lengthMistake(text: string, maximum: number): Mistake | undefined {
  if (text === '') return { message: 'is empty' };
  if (text.length > maximum) return { message: `is longer than ${maximum} characters` };
  return undefined;
}

function printableMistake(text: string): Mistake | undefined {
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text)) {
    return { message: 'contains a control character or half of a surrogate pair' };
  }
  if (text.trim() !== text) return { message: 'starts or ends with a space' };
  return undefined;
}

/** The found value for messages, shortened. */
export function shownNode(node: ConfigNode): string {
  if (node.kind === 'map') return 'a section';
  if (node.kind === 'list') return 'a list';
  switch (node.type) {
    case 'text':
      return shownText(node.text);
    case 'number':
      return node.text.length <= 40 ? node.text : 'a number';
    case 'boolean':
      return node.text;
    default:
      return KINDS[node.type];
  }
}

function shownText(text: string): string {
  return text.length <= 40 ? `the string ${JSON.stringify(text)}` : 'a long string';
}
