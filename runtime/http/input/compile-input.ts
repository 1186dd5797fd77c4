import { isLosslessNumber } from 'lossless-json';
import type { FieldDescriptor, FieldType } from '../../domain/descriptor.js';
import { takesNull } from '../../domain/kinds/kinds.js';
import { chooserOf } from '../../domain/union-type.js';
import { compileRules } from '../../domain/value-rules.js';
import { escapePointer, type InputProblem } from '../problem.js';
import { compileConverter, type ValueSource } from './convert.js';
import { type Converter, Refusal } from './refusal.js';

/** Checks an object and converts its values in place. Returns all mistakes, or `undefined`. */
export type InputValidator = (input: object) => readonly InputProblem[] | undefined;

/** The three sources of params. */
export type InputPlace = 'body' | 'path' | 'query';

/** Compiles params to a validator, once, at start. */
export function compileInput(fields: readonly FieldDescriptor[], place: InputPlace): InputValidator {
  const source = place === 'body' ? 'json' : 'text';
  const convert = objectConverter(fields, { source, open: new Map() });
  return (input) => {
    const refusal = convert(input);
    if (!(refusal instanceof Refusal)) return undefined;
    const { parts, reason } = refusal;
    if (parts.length === 0) return [{ pointer: '', message: `Params ${reason}` }];
    return place === 'body' ? parts : parts.map((problem) => ({ in: place, ...problem }));
  };
}

interface Compiling {
  readonly source: ValueSource;
  /** Converters of the enclosing recursive types, by name. */
  readonly open: ReadonlyMap<string, Converter>;
}

/** A value inside of params, whatever it is called there. */
type Value = Omit<FieldDescriptor, 'name' | 'label'> & { readonly label: string };

/** A converter that also takes null. Its refusals are those of an object that contains the value under a key. */
type PartConverter = (value: unknown, key: string | number) => unknown;

function partConverter(value: Value, compiling: Compiling): PartConverter {
  const { type, label, rules } = value;
  const isNullable = takesNull(value);
  const convert = compile(type, label, compiling, rules?.integer === true);
  const broken = rules === undefined ? undefined : compileRules(rules);
  const check: Converter = (given) => {
    if (given === null) return isNullable ? null : new Refusal('cannot be null');
    const converted = convert(given);
    if (broken === undefined || converted instanceof Refusal) return converted;
    const reason = broken(converted);
    return reason === undefined ? converted : new Refusal(reason);
  };
  return (given, key) => {
    const converted = check(given);
    if (!(converted instanceof Refusal)) return converted;
    const { reason, parts } = converted;
    const pointer = `/${escapePointer(String(key))}`;
    const problem = { pointer, message: `${label} ${reason}` };
    const inside = parts.map((part) => ({ ...part, pointer: pointer + part.pointer }));
    return new Refusal('', inside.length === 0 ? [problem] : inside);
  };
}

function compile(type: FieldType, label: string, compiling: Compiling, integer = false): Converter {
  switch (type.kind) {
    case 'object':
      return objectConverter(type.fields, compiling);
    case 'list':
      return sequence([], partConverter({ ...type, type: type.of, label: `${label}[]` }, compiling));
    case 'tuple': {
      const [parts, rest] = [type.items, type.rest].map((items) =>
        [items ?? []].flat().map((item) => partConverter({ ...item, label: `${label}[]` }, compiling)),
      );
      const required = type.items.filter(({ optional }) => optional !== true).length;
      return sequence(parts ?? [], rest?.[0], required);
    }
    case 'record':
      return record(partConverter({ ...type, type: type.of, label: `${label}[]` }, compiling));
    case 'union':
      return union(type, label, compiling);
    case 'recursive': {
      const again: Converter = (value) => convert(value);
      const open = new Map([...compiling.open, [type.name, again]]);
      const convert = compile(type.of, label, { ...compiling, open });
      return convert;
    }
    case 'again':
      return compiling.open.get(type.name) ?? (() => new Refusal('is not valid'));
    default:
      return compileConverter(type, compiling.source, integer);
  }
}

/** Unknown fields are a mistake of the caller. */
function objectConverter(fields: readonly FieldDescriptor[], compiling: Compiling): Converter {
  const unknown = compiling.source === 'json' ? 'Unknown field' : 'Unknown parameter';
  const names = new Set(fields.map(({ name }) => name));
  const known = fields.map((field) => {
    const label = field.label ?? field.name;
    return { ...field, label, convert: partConverter({ ...field, label }, compiling) };
  });
  return (value) => {
    if (!isObject(value)) return new Refusal('must be a JSON object');
    const problems: InputProblem[] = [];
    for (const name of Object.keys(value)) {
      if (names.has(name)) continue;
      const message = `${unknown} ${JSON.stringify(name.slice(0, 64))}`;
      problems.push({ pointer: `/${escapePointer(name)}`, message });
    }
    for (const { name, label, convert, optional } of known) {
      if (Object.hasOwn(value, name)) put(value, name, convert(value[name], name), problems);
      // The executor adds defaults, whose fields are optional. An idempotency key covers what the caller has sent.
      else if (optional !== true)
        problems.push({ pointer: `/${escapePointer(name)}`, message: `${label} is required` });
    }
    return problems.length === 0 ? value : new Refusal('', problems);
  };
}

function put(target: Parts, key: string | number, converted: unknown, problems: InputProblem[]): void {
  if (converted instanceof Refusal) problems.push(...converted.parts);
  else target[key] = converted;
}

type Parts = { [key: string | number]: unknown };

function sequence(parts: readonly PartConverter[], rest: PartConverter | undefined, required = 0): Converter {
  const count = required === parts.length ? `${required}` : `${required} to ${parts.length}`;
  return (value) => {
    if (!Array.isArray(value)) return new Refusal('must be a JSON array');
    if (value.length < required) return new Refusal(`must have at least ${required} items`);
    if (rest === undefined && value.length > parts.length) return new Refusal(`must have ${count} items`);
    const problems: InputProblem[] = [];
    for (const [index, item] of value.entries())
      put(value as unknown as Parts, index, (parts[index] ?? rest)?.(item, index), problems);
    return problems.length === 0 ? value : new Refusal('', problems);
  };
}

function record(convert: PartConverter): Converter {
  const checkKey = compileConverter({ kind: 'string' }, 'json', false);
  return (value) => {
    if (!isObject(value)) return new Refusal('must be a JSON object');
    const problems: InputProblem[] = [];
    for (const [name, item] of Object.entries(value)) {
      const key = checkKey(name);
      if (key instanceof Refusal) return key;
      put(value, name, convert(item, name), problems);
    }
    return problems.length === 0 ? value : new Refusal('', problems);
  };
}

type Union = Extract<FieldType, { kind: 'union' }>;

function union(type: Union, label: string, compiling: Compiling): Converter {
  const compiled = (member: FieldType): Converter => compile(member, label, compiling);
  const choose = chooserOf(type, compiled, (value) =>
    isLosslessNumber(value) ? Number(value.value) : value,
  );
  const forms = [...new Set(type.of.map((member) => (isObjectType(member) ? 'object' : member.kind)))];
  const tagged = type.discriminator === undefined ? '' : `, discriminated by its field ${type.discriminator}`;
  const refusal = new Refusal(`must be ${forms.join(' or ')}${tagged}`);
  return (value) => {
    // Decimals and integers of 64 bits are texts that may be sent as numbers.
    const convert = choose(value) ?? (isLosslessNumber(value) ? choose('') : undefined);
    return convert === undefined ? refusal : convert(value);
  };
}

function isObjectType(type: FieldType): boolean {
  return type.kind === 'object' || (type.kind === 'recursive' && isObjectType(type.of));
}

function isObject(value: unknown): value is Parts {
  return typeof value === 'object' && !Array.isArray(value) && !isLosslessNumber(value);
}
