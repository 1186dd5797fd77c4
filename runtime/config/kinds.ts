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
import { isText, readScalar, type Scalar, shownNode, typeOf } from './scalar.js';
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
export function text<O extends TextOptions>(maximum: number, options: O): Kind<string> & O {
  return {
    ...options,
    ...sized('string', maximum),
    read: (located, context) => readText(located, context, { maximum, check: options.check }),
    print: (value) => options.shown?.(value) ?? value,
  };
}

/** A text that is never printed. */
export function secret<O extends KeyOptions<Secret>>(maximum: number, options: O): Kind<Secret> & O {
  const { type, schema } = sized('secret string', maximum);
  return {
    ...options,
    type,
    schema: { ...schema, writeOnly: true },
    read(located, context) {
      const value = readScalar(located, context, 'a string', 'secret');
      if (value === undefined || value.secret !== undefined) return value?.secret;
      const mistake = isText(value)
        ? (lengthMistake(value.text, maximum) ?? nulMistake(value.text))
        : { message: `must be a string, found ${typeOf(value)}`, hint: 'put quotes around it' };
      return mistake === undefined ? SecretText.of(value.text) : refuse(context, located, mistake);
    },
    print: String,
  };
}

/** A path, resolved against the folder of the configuration file. */
export function path<O extends KeyOptions<string>>(target: 'file' | 'folder', options: O): Kind<string> & O {
  return {
    ...options,
    type: target,
    schema: { type: 'string', minLength: 1 },
    read(located, context) {
      const value = readText(located, context, { maximum: LONGEST_PATH, wanted: 'a path' });
      return value === undefined ? undefined : resolve(context.baseDirectory, value);
    },
  };
}

export function jdbcUrl<O extends KeyOptions<DatabaseUrl>>(options: O): Kind<DatabaseUrl> & O {
  return {
    ...options,
    type: 'JDBC URL',
    schema: { anyOf: [{ type: 'string', pattern: '^jdbc:(postgresql|pglite):' }, REFERENCE] },
    read(located, context) {
      const rules = { maximum: LONGEST_PATH, wanted: 'a JDBC URL', printable: false };
      const value = readText(located, context, rules);
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
export function integer<O extends KeyOptions<number>>(
  minimum: number,
  maximum: number,
  options: O,
): Kind<number> & O {
  const isInteger = (text: string): boolean => /^-?(?:0|[1-9][0-9]{0,15})$/.test(text);
  return {
    ...options,
    type: `integer, ${grouped(minimum)} to ${grouped(maximum)}`,
    ...parsed<number>({
      schema: { type: 'integer', minimum, maximum },
      wanted: `an integer from ${minimum} to ${maximum}`,
      parse({ type, text }) {
        const number = type === 'text' || !isInteger(text) ? Number.NaN : Number(text);
        return number >= minimum && number <= maximum ? number : undefined;
      },
      hint: ({ type, text }) => (type === 'text' && isInteger(text) ? 'remove the quotes' : undefined),
    }),
  };
}

export function boolean<O extends KeyOptions<boolean>>(options: O): Kind<boolean> & O {
  return {
    ...options,
    type: '`true` or `false`',
    ...parsed<boolean>({
      schema: { type: 'boolean' },
      wanted: 'true or false',
      parse({ type, text }) {
        const word = type === 'boolean' ? text.toLowerCase() : text;
        return type === 'text' || !/^(true|false)$/.test(word) ? undefined : word === 'true';
      },
    }),
  };
}

/** One word of a fixed set. */
export function choice<const Word extends string, O extends KeyOptions<Word>>(
  words: readonly Word[],
  options: O,
): Kind<Word> & O {
  return { ...options, type: `one of ${quoted(words)}`, ...oneOf(words) };
}

/** A list is empty by default. */
type ListKind<Item> = Kind<readonly Item[]> &
  KeyOptions<readonly Item[]> & { readonly default: readonly Item[] };

/** A list of words of a fixed set, each at most once. */
export function choices<const Word extends string>(
  words: readonly Word[],
  options: KeyOptions<readonly Word[]>,
): ListKind<Word> {
  const lengths = { minimum: 0, maximum: words.length, of: 'words' };
  return { ...options, default: [], type: `list of ${quoted(words)}`, ...listOf(oneOf(words), lengths) };
}

interface TextsOptions extends KeyOptions<readonly string[]> {
  readonly maximum: number;
  /** Maximum length of each text, in characters. */
  readonly maximumLength: number;
  readonly check?: TextCheck;
}

/** A list of texts, each at most once. */
export function texts(options: TextsOptions): ListKind<string> {
  const { maximum, maximumLength, check } = options;
  const item: Pick<Kind<string>, 'schema' | 'read'> = {
    schema: sized('string', maximumLength).schema,
    read: (located, context) => readText(located, context, { maximum: maximumLength, check }),
  };
  return {
    ...options,
    default: [],
    type: `list of strings, 1 to ${maximum}`,
    ...listOf(item, { minimum: 1, maximum, of: 'strings' }),
  };
}

/** Texts separated by commas. */
export function words(maximum: number, options: KeyOptions<readonly string[]>): ListKind<string> {
  return {
    ...options,
    ...sized('string', maximum),
    default: [],
    read(located, context) {
      const list = readText(located, context, { maximum })
        ?.split(',')
        .map((each) => each.trim());
      const names = list?.filter((each) => each !== '');
      // An empty list would mean the default: any host.
      return names?.length === 0 ? refuse(context, located, { message: 'has only commas' }) : names;
    },
    print: (value) => (value.length === 0 ? undefined : value.join(', ')),
  };
}

/** A claim of a caller and its value, written `claim=value`. */
export interface ClaimValue {
  readonly claim: string;
  readonly value: string;
}

export function claimValue<O extends KeyOptions<ClaimValue>>(
  maximum: number,
  options: O,
): Kind<ClaimValue> & O {
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

/** How a value is parsed from a scalar. */
interface Parsing<Value> {
  readonly schema: ConfigSchema;
  readonly wanted: string;
  readonly parse: (scalar: Scalar) => Value | undefined;
  readonly hint?: (scalar: Scalar) => string | undefined;
}

function parsed<Value>({
  schema,
  wanted,
  parse,
  hint,
}: Parsing<Value>): Pick<Kind<Value>, 'schema' | 'read'> {
  return {
    schema: { anyOf: [schema, REFERENCE] },
    read(located, context) {
      const scalar = readScalar(located, context, wanted);
      if (scalar === undefined) return undefined;
      const message = `must be ${wanted}, found ${scalar.shown}`;
      return parse(scalar) ?? refuse(context, located, { message, hint: hint?.(scalar) });
    },
  };
}

function oneOf<Word extends string>(words: readonly Word[]): Pick<Kind<Word>, 'schema' | 'read'> {
  return parsed<Word>({
    schema: { enum: words },
    wanted: `one of ${words.join(', ')}`,
    parse: (scalar) => (isText(scalar) ? words.find((known) => known === scalar.text) : undefined),
    hint: ({ text }) => didYouMean(text, words),
  });
}

/** A list of `minimum` to `maximum` values, each at most once. */
export function listOf<Item>(
  item: Pick<Kind<Item>, 'schema' | 'read' | 'print'>,
  { minimum, maximum, of }: { readonly minimum: number; readonly maximum: number; readonly of: string },
): Required<Pick<Kind<readonly Item[]>, 'schema' | 'read' | 'print'>> {
  return {
    schema: { type: 'array', minItems: minimum, maxItems: maximum, uniqueItems: true, items: item.schema },
    read(located, context) {
      const { node, place } = located;
      const length = node.kind === 'list' ? node.items.length : -1;
      if (node.kind !== 'list' || length < minimum || length > maximum) {
        const found = node.kind === 'list' ? `a list of ${length}` : shownNode(node);
        const hint = node.kind === 'scalar' && node.type === 'text' ? 'put it in brackets: [ ]' : undefined;
        const message = `must be a list of ${minimum} to ${maximum} ${of}, found ${found}`;
        return refuse(context, located, { message, hint });
      }
      const items = new Set<Item>();
      for (const [index, each] of node.items.entries()) {
        const at = { node: each, place: { path: `${place.path}[${index}]`, offset: each.offset } };
        const value = item.read(at, context);
        if (value === undefined) continue;
        if (items.has(value)) refuse(context, at, { message: 'is listed twice' });
        items.add(value);
      }
      return [...items];
    },
    print: (value) =>
      value.length < minimum ? undefined : value.map((each) => (item.print ? item.print(each) : each)),
  };
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

function lengthMistake(text: string, maximum: number): Mistake | undefined {
  if (text === '') return { message: 'is empty' };
  return text.length > maximum ? { message: `is longer than ${maximum} characters` } : undefined;
}

function nulMistake(text: string): Mistake | undefined {
  return text.includes('\0') ? { message: 'contains a NUL character' } : undefined;
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
