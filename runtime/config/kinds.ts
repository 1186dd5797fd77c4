import { resolve } from 'node:path';
import { formatJdbcUrl, parseJdbcUrl } from './jdbc-url.js';
import {
  type ConfigSchema,
  type KeyOptions,
  type Kind,
  type Located,
  type ReadContext,
  refuse,
} from './key.js';
import type { Mistake } from './problems.js';
import { isText, readScalar, shownNode, typeOf } from './scalar.js';
import { SecretText } from './secret.js';
import { didYouMean } from './suggest.js';
import type { DatabaseUrl, Secret } from './types.js';

/** Matches a value of any type: `${NAME}` is replaced before the type is checked. */
const REFERENCE: ConfigSchema = { $ref: '#/$defs/reference' };
const LONGEST_PATH = 4_096;

/** The mistake of a text that has the right type and length. */
export type TextCheck = (text: string) => Mistake | undefined;

interface TextOptions extends KeyOptions<string> {
  readonly check?: TextCheck;
  /** The printed form. Default: the text. */
  readonly shown?: (text: string) => string;
}

/** A text of 1 to `maximum` characters without spaces around it. */
export function text<Options extends TextOptions>(maximum: number, options: Options): Kind<string> & Options {
  return {
    ...options,
    ...sized('string', maximum),
    read: (located, context) => readText(located, context, { maximum, check: options.check }),
    print: (value) => options.shown?.(value) ?? value,
  };
}

/** A text that is never printed. */
export function secret<Options extends KeyOptions<Secret>>(
  maximum: number,
  options: Options,
): Kind<Secret> & Options {
  const { type, schema } = sized('secret string', maximum);
  return {
    ...options,
    type,
    schema: { ...schema, writeOnly: true },
    read(located, context) {
      const value = readScalar(located, context, 'a string', 'secret');
      if (value === undefined) return undefined;
      if (value.secret !== undefined) return value.secret;
      const message = `must be a string, found ${typeOf(value)}`;
      if (!isText(value)) return refuse(context, located, { message, hint: 'put quotes around it' });
      const mistake = lengthMistake(value.text, maximum);
      if (mistake !== undefined) return refuse(context, located, mistake);
      if (value.text.includes('\0')) return refuse(context, located, { message: 'contains a NUL character' });
      return SecretText.of(value.text);
    },
    print: String,
  };
}

/** A path, resolved against the folder of the configuration file. */
export function path<Options extends KeyOptions<string>>(
  target: 'file' | 'folder',
  options: Options,
): Kind<string> & Options {
  return {
    ...options,
    type: target,
    schema: { type: 'string', minLength: 1 },
    read(located, context) {
      const value = readText(located, context, { maximum: LONGEST_PATH, wanted: 'a path' });
      return value === undefined ? undefined : resolve(context.baseDirectory, value);
    },
    print: String,
  };
}

export function jdbcUrl<Options extends KeyOptions<DatabaseUrl>>(
  options: Options,
): Kind<DatabaseUrl> & Options {
  return {
    ...options,
    type: 'JDBC URL',
    schema: { anyOf: [{ type: 'string', pattern: '^jdbc:(postgresql|pglite):' }, REFERENCE] },
    read(located, context) {
      const wanted = { maximum: LONGEST_PATH, wanted: 'a JDBC URL', printable: false };
      const value = readText(located, context, wanted);
      if (value === undefined) return undefined;
      const result = parseJdbcUrl(value, context.baseDirectory);
      if ('url' in result) return result.url;
      for (const mistake of result.mistakes) refuse(context, located, mistake);
      return undefined;
    },
    print: formatJdbcUrl,
  };
}

/** An integer from `minimum` to `maximum`, both included. */
export function integer<Options extends KeyOptions<number>>(
  minimum: number,
  maximum: number,
  options: Options,
): Kind<number> & Options {
  const wanted = `an integer from ${minimum} to ${maximum}`;
  return {
    ...options,
    type: `integer, ${grouped(minimum)} to ${grouped(maximum)}`,
    schema: { anyOf: [{ type: 'integer', minimum, maximum }, REFERENCE] },
    read(located, context) {
      const value = readScalar(located, context, wanted);
      if (value === undefined) return undefined;
      const typed = value.type === 'number' || value.type === 'referenced';
      const isInteger = /^-?(?:0|[1-9][0-9]{0,15})$/.test(value.text);
      const number = Number(value.text);
      if (typed && isInteger && number >= minimum && number <= maximum) return number;
      const hint = value.type === 'text' && isInteger ? 'remove the quotes' : undefined;
      return refuse(context, located, { message: `must be ${wanted}, found ${value.shown}`, hint });
    },
    print: Number,
  };
}

export function boolean<Options extends KeyOptions<boolean>>(options: Options): Kind<boolean> & Options {
  return {
    ...options,
    type: '`true` or `false`',
    schema: { anyOf: [{ type: 'boolean' }, REFERENCE] },
    read(located, context) {
      const value = readScalar(located, context, 'true or false');
      if (value === undefined) return undefined;
      const text = value.type === 'boolean' ? value.text.toLowerCase() : value.text;
      const typed = value.type === 'boolean' || value.type === 'referenced';
      if (typed && (text === 'true' || text === 'false')) return text === 'true';
      return refuse(context, located, { message: `must be true or false, found ${value.shown}` });
    },
    print: Boolean,
  };
}

/** One word of a fixed set. */
export function choice<const Word extends string, Options extends KeyOptions<Word>>(
  words: readonly Word[],
  options: Options,
): Kind<Word> & Options {
  return {
    ...options,
    type: `one of ${quoted(words)}`,
    schema: { anyOf: [{ enum: words }, REFERENCE] },
    read: (located, context) => readChoice(located, context, words),
    print: String,
  };
}

/** A list of words of a fixed set, each at most once. Default: none. */
export function choices<const Word extends string>(
  words: readonly Word[],
  options: KeyOptions<readonly Word[]>,
): Kind<readonly Word[]> & KeyOptions<readonly Word[]> & { readonly default: readonly Word[] } {
  const items = { anyOf: [{ enum: words }, REFERENCE] };
  return {
    ...options,
    default: [],
    type: `list of ${quoted(words)}`,
    schema: { type: 'array', uniqueItems: true, items },
    read(located, context) {
      if (located.node.kind === 'list')
        return readItems(located, context, (item) => readChoice(item, context, words));
      const message = `must be a list, found ${shownNode(located.node)}`;
      return refuse(context, located, { message, hint: `write [${words[0]}]` });
    },
    print: (value) => value,
  };
}

interface TextsOptions extends KeyOptions<readonly string[]> {
  readonly maximum: number;
  /** Maximum length of each text, in characters. */
  readonly maximumLength: number;
  readonly check?: TextCheck;
}

/** A list of texts, each at most once. Default: none. */
export function texts(
  options: TextsOptions,
): Kind<readonly string[]> & TextsOptions & { readonly default: readonly string[] } {
  const { maximum, maximumLength, check } = options;
  const items = { type: 'string', minLength: 1, maxLength: maximumLength };
  return {
    ...options,
    default: [],
    type: `list of strings, 1 to ${maximum}`,
    schema: { type: 'array', minItems: 1, maxItems: maximum, uniqueItems: true, items },
    read(located, context) {
      const wanted = `a list of 1 to ${maximum} strings`;
      if (!requireLength(located, context, { minimum: 1, maximum, wanted })) return undefined;
      return readItems(located, context, (item) =>
        readText(item, context, { maximum: maximumLength, check }),
      );
    },
    print: (value) => (value.length === 0 ? undefined : value),
  };
}

/** Texts separated by commas. Default: none. */
export function words(
  maximum: number,
  options: KeyOptions<readonly string[]>,
): Kind<readonly string[]> & KeyOptions<readonly string[]> & { readonly default: readonly string[] } {
  return {
    ...options,
    ...sized('string', maximum),
    default: [],
    read: (located, context) =>
      readText(located, context, { maximum })
        ?.split(',')
        .map((each) => each.trim())
        .filter((each) => each !== ''),
    print: (value) => (value.length === 0 ? undefined : value.join(', ')),
  };
}

/** A claim of a caller and its value, written `claim=value`. */
export interface ClaimValue {
  readonly claim: string;
  readonly value: string;
}

export function claimValue<Options extends KeyOptions<ClaimValue>>(
  maximum: number,
  options: Options,
): Kind<ClaimValue> & Options {
  return {
    ...options,
    ...sized('string', maximum),
    read(located, context) {
      const found = readText(located, context, { maximum });
      if (found === undefined) return undefined;
      const [, claim, value] = /^([^=]+)=(.+)$/.exec(found) ?? [];
      if (claim !== undefined && value !== undefined) return { claim, value };
      return refuse(context, located, {
        message: 'must be a claim and its value',
        hint: 'write role=operator',
      });
    },
    print: ({ claim, value }) => `${claim}=${value}`,
  };
}

/** Whether a list has the right length. If not, reports it. */
export function requireLength(
  located: Located,
  context: ReadContext,
  { minimum, maximum, wanted }: { minimum: number; maximum: number; wanted: string },
): boolean {
  const { node } = located;
  if (node.kind === 'list' && node.items.length >= minimum && node.items.length <= maximum) return true;
  const found = node.kind === 'list' ? `a list of ${node.items.length}` : shownNode(node);
  refuse(context, located, { message: `must be ${wanted}, found ${found}` });
  return false;
}

/** The entries of a list with their positions. */
export function itemsOf({ node, place }: Located): readonly Located[] {
  if (node.kind !== 'list') return [];
  return node.items.map((item, index) => ({
    node: item,
    place: { path: `${place.path}[${index}]`, offset: item.offset },
  }));
}

function readItems<Item>(
  located: Located,
  context: ReadContext,
  read: (item: Located) => Item | undefined,
): readonly Item[] {
  const items = new Set<Item>();
  for (const item of itemsOf(located)) {
    const value = read(item);
    if (value === undefined) continue;
    if (items.has(value)) refuse(context, item, { message: `${String(value)} is listed twice` });
    items.add(value);
  }
  return [...items];
}

interface TextRules {
  readonly maximum: number;
  readonly wanted?: string;
  /** Default true: no control characters, and no spaces around the text. */
  readonly printable?: boolean;
  readonly check?: TextCheck | undefined;
}

function readText(located: Located, context: ReadContext, rules: TextRules): string | undefined {
  const { maximum, wanted = 'a string', printable = true, check } = rules;
  const value = readScalar(located, context, wanted);
  if (value === undefined) return undefined;
  const message = `must be a string, found ${value.shown}`;
  if (!isText(value)) return refuse(context, located, { message, hint: 'put quotes around it' });
  const mistake =
    lengthMistake(value.text, maximum) ??
    (printable ? printableMistake(value.text) : undefined) ??
    check?.(value.text);
  return mistake === undefined ? value.text : refuse(context, located, mistake);
}

function readChoice<Word extends string>(
  located: Located,
  context: ReadContext,
  words: readonly Word[],
): Word | undefined {
  const wanted = `one of ${words.join(', ')}`;
  const value = readScalar(located, context, wanted);
  if (value === undefined) return undefined;
  const word = isText(value) ? words.find((known) => known === value.text) : undefined;
  if (word !== undefined) return word;
  const message = `must be ${wanted}, found ${value.shown}`;
  return refuse(context, located, { message, hint: didYouMean(value.text, words) });
}

function lengthMistake(text: string, maximum: number): Mistake | undefined {
  if (text === '') return { message: 'is empty' };
  return text.length > maximum ? { message: `is longer than ${maximum} characters` } : undefined;
}

function printableMistake(text: string): Mistake | undefined {
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text))
    return { message: 'contains a control character or half of a surrogate pair' };
  return text.trim() === text ? undefined : { message: 'starts or ends with a space' };
}

function sized(what: string, maximum: number): { readonly type: string; readonly schema: ConfigSchema } {
  return {
    type: `${what}, 1 to ${grouped(maximum)} characters`,
    schema: { type: 'string', minLength: 1, maxLength: maximum },
  };
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

/** `10000` -> `10,000` */
function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
