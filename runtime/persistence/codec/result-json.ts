import { memoize } from '../../collections/memoize.js';
import { Decimal, plainDecimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { descriptorOf, Entity, instantiate } from '../../domain/entity.js';
import { Id, idNamed, ShardedId } from '../../domain/id.js';
import { isPlainObject, type JsonValue } from '../../domain/json.js';
import { instantText } from '../../domain/kinds/instant-kind.js';
import { isUnstorable } from '../../domain/storable-text.js';
import { PlanMisuseError, UnknownModelError, ValidationError } from '../../errors.js';

/**
 * Encodes action results as JSON and decodes them, so that a repeat under an idempotency key receives the first result,
 * whatever its type. JSON values, arrays and plain objects are stored unchanged. Any other value becomes an object with
 * one key that starts with `$`: `{"$decimal": "1.5"}`, `{"$model": ["Wallet", {...fields}]}`. A plain object's key that
 * starts with `$` gets one more `$`.
 */
export class ResultJson {
  readonly #models = new Map<string, ModelDescriptor>();

  constructor(models: readonly ModelDescriptor[]) {
    for (const model of models) this.#models.set(model.name, model);
  }

  /**
   * The result as JSON text.
   *
   * @throws PlanMisuseError for a value that cannot be restored, such as a class instance
   * @throws ValidationError for a text that cannot be stored
   */
  write(result: unknown): string {
    return encode(result, 0);
  }

  /** Restores the value that `write` received, including models and dates. */
  read(json: JsonValue): unknown {
    if (json === null || typeof json !== 'object') return json;
    if (Array.isArray(json)) return Object.freeze(json.map((item: JsonValue) => this.read(item)));
    const entries = Object.entries(json as Readonly<Record<string, JsonValue>>);
    const [first] = entries;
    if (entries.length === 1 && first !== undefined && /^\$[^$]/.test(first[0])) {
      return this.#readTagged(first[0], first[1]);
    }
    return this.#readFields(entries);
  }

  #readFields(entries: readonly (readonly [name: string, value: JsonValue])[]): Record<string, unknown> {
    return Object.fromEntries(entries.map(([key, value]) => [key.replace(/^\$\$/, '$'), this.read(value)]));
  }

  #readTagged(tag: string, value: JsonValue): unknown {
    switch (tag) {
      case '$undefined':
        return undefined;
      case '$decimal':
        return new Decimal(String(value));
      case '$bigint':
        return BigInt(String(value));
      case '$date':
        return new Date(String(value));
      case '$id':
      case '$shardedId': {
        const [model, id] = value as readonly [string, string];
        return tag === '$id' ? idNamed(model, id) : ShardedId.named(model, id);
      }
      case '$model':
        return this.#readModel(value as readonly [string, Readonly<Record<string, JsonValue>>]);
      default:
        throw new ValidationError(`A stored result holds ${tag}, which this version does not know`);
    }
  }

  #readModel([name, fields]: readonly [string, Readonly<Record<string, JsonValue>>]): Entity {
    const descriptor = this.#models.get(name);
    if (descriptor === undefined)
      throw new UnknownModelError(`A stored result holds the unknown model ${name}`);
    return instantiate(descriptor, this.#readFields(Object.entries(fields)));
  }
}

const MAXIMUM_DEPTH = 64;

function encode(value: unknown, depth: number): string {
  if (depth > MAXIMUM_DEPTH) throw unfit(`A result of more than ${MAXIMUM_DEPTH} levels`);
  switch (typeof value) {
    case 'string':
      return encodeText(value);
    case 'boolean':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw unfit(String(value));
      return JSON.stringify(value);
    case 'undefined':
      return '{"$undefined":true}';
    case 'bigint':
      return `{"$bigint":"${value}"}`;
    case 'object':
      return value === null ? 'null' : encodeObject(value, depth);
    default:
      throw unfit(`A result that holds a ${typeof value}`);
  }
}

function encodeObject(value: object, depth: number): string {
  if (Array.isArray(value))
    return `[${Array.from(value, (item: unknown) => encode(item, depth + 1)).join(',')}]`;
  if (Decimal.isDecimal(value)) return `{"$decimal":"${plainDecimal(value)}"}`;
  if (value instanceof Date) return encodeDate(value);
  if (value instanceof ShardedId) return `{"$shardedId":${encodeId(value)}}`;
  if (value instanceof Id) return `{"$id":${encodeId(value)}}`;
  if (value instanceof Entity) return encodeModel(value, depth);
  if (!isPlainObject(value)) throw unfit(`A result that holds an instance of ${value.constructor.name}`);
  const fields = Object.entries(value).map(([key, each]): NamedValue => [encodeName(key), each]);
  return encodeFields(fields, depth);
}

function encodeDate(value: Date): string {
  if (Number.isNaN(value.getTime())) throw unfit('An invalid date');
  return `{"$date":"${instantText(value)}"}`;
}

function encodeId(id: Id<unknown>): string {
  return JSON.stringify([id.modelName, id.getValue()]);
}

function encodeModel(model: Entity, depth: number): string {
  const source = model as unknown as Readonly<Record<string, unknown>>;
  const { start, names } = modelText(descriptorOf(model));
  const fields = names.map(([field, name]): NamedValue => [name, source[field]]);
  return `${start}${encodeFields(fields, depth)}]}`;
}

/** What is the same in the texts of all models of a class. */
const modelText = memoize(({ name, columns }: ModelDescriptor) => ({
  start: `{"$model":[${JSON.stringify(name)},`,
  names: columns.map(({ field }) => [field, encodeName(field)] as const),
}));

function encodeName(key: string): string {
  return encodeText(key.startsWith('$') ? `$${key}` : key);
}

function encodeText(text: string): string {
  // Of a caller, perhaps.
  if (isUnstorable(text))
    throw new ValidationError('A stored text must not contain NUL or half of a surrogate pair');
  return JSON.stringify(text);
}

/** A value with its name as JSON text. */
type NamedValue = readonly [name: string, value: unknown];

function encodeFields(values: readonly NamedValue[], depth: number): string {
  let fields = '';
  for (const [name, value] of values) {
    if (value === undefined) continue;
    fields += `${fields === '' ? '' : ','}${name}:${encode(value, depth + 1)}`;
  }
  return `{${fields}}`;
}

function unfit(what: string): PlanMisuseError {
  return new PlanMisuseError(
    `${what} cannot be stored under an idempotency key, or in the journal: use models and plain values`,
  );
}
