import type { MapEntry, MapNode } from './config-node.js';
import { sectionSchema } from './json-schema.js';
import {
  type AnyKeys,
  type Key,
  type KeysOf,
  type Located,
  type NamedSections,
  type ReadContext,
  refuse,
  type Shape,
} from './key.js';
import { camelCase, childPath, inStyle, kebabCase } from './key-names.js';
import { listOf } from './kinds.js';
import type { Place } from './problems.js';
import { shownNode } from './scalar.js';
import { didYouMean, editDistance } from './suggest.js';

/** A section, or a list of sections. */
export type SectionKey<Value> = Key<Value> & {
  readonly shape: Shape;
  print(value: Value): unknown;
};

interface SectionOptions<Raw> {
  readonly doc: string;
  readonly keys: KeysOf<Raw>;
  readonly named?: NamedSections;
  readonly definition?: string;
  /** Keys that are unique among the entries of a list, with their names in messages. */
  readonly unique?: Readonly<Record<string, string>>;
  /** Reports mistakes of several keys together. A key that is absent or was refused is undefined. */
  readonly check?: (raw: Partial<Raw>, at: Section) => void;
}

/** Between the keys as written and the value that the application gets. */
interface Conversion<Raw, Value> {
  /** Returns undefined after a problem was reported. */
  readonly value: (raw: Raw, at: Section) => Value | undefined;
  readonly raw: (value: Value) => Raw;
}

/** A section whose keys are the properties of its value. */
export function section<Value extends object>(options: SectionOptions<Value>): SectionKey<Value> {
  return converted<Value, Value>({ ...options, value: (raw) => raw, raw: (value) => value });
}

/** A section whose keys are converted to its value. */
export function converted<Raw extends object, Value>(
  options: SectionOptions<Raw> & Conversion<Raw, Value>,
): SectionKey<Value> {
  const { doc, named, definition, unique = {} } = options;
  // A type with an index signature would accept keys that the value does not have.
  const keys: AnyKeys = Object.fromEntries(Object.entries(options.keys));
  const shape: Shape = { keys, named, definition };
  const complete = (raw: object): raw is Raw => {
    const given: Readonly<Record<string, unknown>> = { ...raw };
    return Object.entries(keys).every(
      ([name, key]) => key.required !== true || key.lenient === true || given[name] !== undefined,
    );
  };
  return {
    doc,
    type: 'section',
    schema: sectionSchema(shape),
    shape,
    read(located, context) {
      const at = Section.open(located, context, shape);
      if (at === undefined) return undefined;
      const raw = at.read() as Partial<Raw>;
      const list = at.place.path.replace(/\[\d+\]$/, '');
      for (const [name, what] of Object.entries(unique)) at.claim(what, name, list);
      options.check?.(raw, at);
      return complete(raw) ? options.value(raw, at) : undefined;
    },
    print: (value) => printed(options.raw(value), shape),
  };
}

/** The same key, which a configuration must have. */
export function required<Value>(key: SectionKey<Value>): SectionKey<Value> & { readonly required: true } {
  return { ...key, required: true };
}

/** The same section, which is read as empty if it is absent. */
export function implied<Value>(key: SectionKey<Value>): SectionKey<Value> & { readonly implied: true } {
  return { ...key, implied: true };
}

/** A list of sections. */
export function list<Item>(
  item: SectionKey<Item>,
  { minimum, maximum, doc }: { readonly minimum: number; readonly maximum: number; readonly doc: string },
): SectionKey<readonly Item[]> & { readonly required: true } {
  return {
    doc,
    required: true,
    type: `list, ${minimum} to ${maximum} entries`,
    shape: { ...item.shape, isList: true },
    ...listOf(item, { minimum, maximum, of: 'entries' }),
  };
}

/** The keys of one map of a configuration. */
export class Section {
  readonly context: ReadContext;
  /** Position of the section. */
  readonly place: Place;
  readonly #shape: Shape;
  readonly #found = new Map<string, Located>();
  readonly #raw = new Map<string, unknown>();
  readonly #clean = new Set<string>();

  /** Reports unknown and repeated keys. Returns undefined after reporting a value that is not a map. */
  static open({ node, place }: Located, context: ReadContext, shape: Shape): Section | undefined {
    if (node.kind === 'map') return new Section(node, place, context, shape);
    // In place of a section, a text may be a secret.
    const { type } = node.kind === 'scalar' ? node : { type: undefined };
    const found = type === 'text' || type === 'number' ? `a ${type}` : shownNode(node);
    const message = `must be a section (a map of keys and values), found ${found}`;
    return refuse(context, { node, place }, { message });
  }

  private constructor(node: MapNode, place: Place, context: ReadContext, shape: Shape) {
    this.context = context;
    this.place = place;
    this.#shape = shape;
    for (const entry of node.entries) this.#accept(entry);
  }

  /** Whether the section contains the key, valid or not. */
  has(name: string): boolean {
    return this.#found.has(name);
  }

  /** Whether the key was read without a problem. */
  isClean(name: string): boolean {
    return this.#clean.has(name);
  }

  /** The position of a key's value, or of the section if it is absent. */
  placeOf(name: string): Place {
    return this.#found.get(name)?.place ?? this.place;
  }

  report(name: string, message: string, hint?: string): void {
    this.context.problems.add(this.placeOf(name), { message, hint });
  }

  /** Reports a required key that is absent. */
  reportMissing(name: string): void {
    const path = childPath(this.place.path, inStyle(name, this.context.style));
    this.context.problems.add({ path, offset: this.place.offset }, { message: 'is missing' });
  }

  /** Reports a key whose value belongs to another key of the same scope: of one list, or of the configuration. */
  claim(what: string, name: string, scope = '', value: unknown = this.#raw.get(name)): void {
    if (value === undefined || !this.has(name)) return;
    const { claims, problems } = this.context;
    const id = JSON.stringify([scope, what, value]);
    const owner = claims.get(id);
    if (owner === undefined) claims.set(id, this.placeOf(name));
    else problems.add(this.placeOf(name), { message: `this ${what} is already used by ${owner.path}` });
  }

  /** The values of all keys; undefined for one that is absent or invalid and has no default. */
  read(): object {
    const { keys, named } = this.#shape;
    const { problems } = this.context;
    for (const [name, key] of Object.entries(keys)) {
      const before = problems.count;
      const value = this.#readKey(name, key) ?? key.default;
      this.#raw.set(name, value);
      if (problems.count === before) this.#clean.add(name);
    }
    for (const [name, located] of this.#found) {
      const value = Object.hasOwn(keys, name) ? undefined : named?.key.read(located, this.context);
      if (value !== undefined) this.#raw.set(name, value);
    }
    return Object.fromEntries(this.#raw);
  }

  #readKey(name: string, key: Key<unknown>): unknown {
    const located = this.#found.get(name);
    if (located !== undefined) return key.read(located, this.context);
    if (key.required === true) this.reportMissing(name);
    if (key.implied !== true) return undefined;
    return key.read(
      { node: { kind: 'map', offset: undefined, entries: [] }, place: this.place },
      this.context,
    );
  }

  #accept(entry: MapEntry): void {
    const place: Place = { path: childPath(this.place.path, entry.key), offset: entry.keyOffset };
    const { problems, style } = this.context;
    const { keys, named } = this.#shape;
    const name = this.#nameOf(entry.key);
    if (name === undefined) {
      this.#reportUnknown(entry.key, place);
      return;
    }
    const isNamed = !Object.hasOwn(keys, name);
    const others = isNamed ? [...this.#found.keys()].filter((other) => !Object.hasOwn(keys, other)) : [];
    if (this.#found.has(name)) {
      const message = `the key ${inStyle(name, style)} is given twice`;
      problems.add(place, { message, hint: 'kebab-case and camelCase name the same key' });
    } else if (isNamed && others.length === named?.maximum) {
      problems.add(place, { message: `more than ${others.length} sections with custom names` });
    } else {
      const { value } = entry;
      this.#found.set(name, { node: value, place: { path: place.path, offset: value.offset } });
    }
  }

  /** The camelCase name of a key in either spelling, or undefined if there is no such key. */
  #nameOf(key: string): string | undefined {
    const { keys, named } = this.#shape;
    const name = camelCase(key);
    const consistent = key === name || key === kebabCase(name);
    if (consistent && Object.hasOwn(keys, name)) return name;
    if (named === undefined || !/^[a-z][A-Za-z0-9-]{0,63}$/.test(key)) return undefined;
    const proper = name.length > named.suffix.length && name.endsWith(named.suffix);
    // A misspelled known name must not become a named section.
    const slip = Object.keys(keys).some((other) => editDistance(name, other) <= 2);
    return proper && consistent && !slip ? name : undefined;
  }

  #reportUnknown(key: string, place: Place): void {
    const { problems } = this.context;
    const message = 'unknown key';
    if (problems.full) {
      problems.add(place, { message });
      return;
    }
    const style = /^[a-z0-9]*[A-Z]/.test(key) ? 'camelCase' : this.context.style;
    const candidates = Object.keys(this.#shape.keys).map((name) => inStyle(name, style));
    const known =
      candidates.length === 1
        ? `the only key here is ${candidates[0]}`
        : `known here: ${candidates.join(', ')}`;
    problems.add(place, { message, hint: didYouMean(key, candidates) ?? known });
  }
}

function printed(raw: object, { keys, named }: Shape): object {
  const names = [...new Set([...Object.keys(keys), ...Object.keys(raw)])];
  const values = new Map<string, unknown>(Object.entries(raw));
  const entries = names.map((name): [string, unknown] => {
    const value = values.get(name);
    const key = Object.hasOwn(keys, name) ? keys[name] : named?.key;
    if (key === undefined || value === undefined) return [kebabCase(name), undefined];
    return [kebabCase(name), key.print === undefined ? value : key.print(value)];
  });
  return Object.fromEntries(entries);
}
