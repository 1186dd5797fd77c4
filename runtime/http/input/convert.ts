import { isLosslessNumber } from 'lossless-json';
import { isCurrency } from '../../domain/currency.js';
import type { FieldType } from '../../domain/descriptor.js';
import { idNamed, ShardedId } from '../../domain/id.js';
import { isUnstorable } from '../../domain/storable-text.js';
import { parseUuid } from '../../domain/uuid.js';
import { readInstant } from './instant-text.js';
import { isNumber, readDecimal, readDouble } from './number-text.js';
import { type Converter, Refusal } from './refusal.js';

/** Source of a value: JSON has numbers and booleans, paths and queries have only text. */
export type ValueSource = 'json' | 'text';

/** A type without parts. */
type LeafType = Exclude<
  FieldType,
  { kind: 'list' | 'object' | 'tuple' | 'record' | 'union' | 'recursive' | 'again' }
>;

const LONGEST_NUMBER = 64;
const WHOLE_NUMBER = /^-?(?:0|[1-9][0-9]{0,18})$/;
const LARGEST_BIGINT = 2n ** 63n - 1n;

/**
 * Compiles the converter of a type without parts.
 *
 * @param integer whether a number must be one
 */
export function compileConverter(type: LeafType, source: ValueSource, integer: boolean): Converter {
  switch (type.kind) {
    case 'string':
      return convertString;
    case 'number':
      return (value) => convertNumber(value, source, integer);
    case 'bigint':
      return convertBigint;
    case 'boolean':
      return source === 'text' ? booleanOfText : booleanOfJson;
    case 'instant':
      return fromText((text) => readInstant(text));
    case 'decimal':
      return (value) => {
        const text = numericText(value, 'json');
        return text === undefined
          ? new Refusal('must be a decimal number, as a number or a string')
          : readDecimal(text, type, typeof value === 'string');
      };
    case 'uuid':
      return fromText(parsing(parseUuid, 'must be a UUID'));
    case 'currency':
      return fromText((text) => (isCurrency(text) ? text : new Refusal('must be an ISO 4217 currency code')));
    case 'id': {
      const { model, sharded } = type;
      const read = sharded ? ShardedId.named : idNamed;
      const reason = `must be the id of a ${model} (a UUID${sharded ? ' of version 7' : ''})`;
      return fromText(parsing((text) => read(model, text), reason));
    }
    case 'enum': {
      const values = new Set<unknown>(type.values);
      const refusal = new Refusal(`must be one of ${type.values.join(', ')}`);
      return (value) => {
        const plain = literalOf(value, source);
        return typeof plain === 'string' && source === 'text'
          ? (type.values.find((each) => String(each) === plain) ?? refusal)
          : values.has(plain)
            ? plain
            : refusal;
      };
    }
    case 'json':
      return convertJson;
  }
}

/** A text, number or boolean as such. */
function literalOf(value: unknown, source: ValueSource): unknown {
  if (!isLosslessNumber(value)) return value;
  const number = convertNumber(value, source, false);
  return number instanceof Refusal ? undefined : number;
}

function fromText(convert: (text: string) => unknown): Converter {
  return (value) => (typeof value === 'string' ? convert(value) : new Refusal('must be a string'));
}

/** The domain's own parsers throw; they do not depend on HTTP. */
function parsing(parse: (text: string) => unknown, reason: string): (text: string) => unknown {
  const refusal = new Refusal(reason);
  return (text) => {
    try {
      return parse(text);
    } catch {
      return refusal;
    }
  };
}

function convertString(value: unknown): unknown {
  if (typeof value !== 'string') return new Refusal('must be a string');
  return isUnstorable(value) ? new Refusal('must not contain NUL or half of a surrogate pair') : value;
}

function booleanOfJson(value: unknown): unknown {
  return typeof value === 'boolean' ? value : new Refusal('must be true or false');
}

function booleanOfText(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : booleanOfJson(value);
}

/** The text of a number: JSON's own, a default's, or a string where strings may stand for numbers. */
function numericText(value: unknown, strings: ValueSource | 'never'): string | undefined {
  if (isLosslessNumber(value)) return value.value;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && strings !== 'never' ? value : undefined;
}

function convertNumber(value: unknown, source: ValueSource, integer: boolean): unknown {
  const refusal = integer ? 'must be an integer' : 'must be a number';
  const text = numericText(value, source === 'text' ? 'text' : 'never');
  if (text === undefined || !isNumber(text)) return new Refusal(refusal);
  const number = text.length > LONGEST_NUMBER ? undefined : readDouble(text);
  if (number === undefined) return new Refusal('cannot be represented exactly');
  if (!integer || Number.isSafeInteger(number)) return number;
  return new Refusal(Number.isInteger(number) ? 'cannot be represented exactly' : refusal);
}

function convertBigint(value: unknown): bigint | Refusal {
  const text = numericText(value, 'json');
  if (text === undefined || !WHOLE_NUMBER.test(text)) return new Refusal('must be an integer');
  const integer = BigInt(text);
  const fits = integer <= LARGEST_BIGINT && integer >= -LARGEST_BIGINT - 1n;
  return fits ? integer : new Refusal('must fit 64 bits');
}

/** Any JSON value as plain JavaScript, if that loses no digits. */
function convertJson(value: unknown): unknown {
  if (typeof value === 'string') return convertString(value);
  if (isLosslessNumber(value)) return convertNumber(value, 'json', false);
  if (Array.isArray(value)) {
    const items = value.map(convertJson);
    return items.find((item) => item instanceof Refusal) ?? items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [convertString(key), convertJson(item)] as const,
  );
  const refusal = entries.flat().find((part) => part instanceof Refusal);
  return refusal ?? Object.fromEntries(entries as [string, unknown][]);
}
