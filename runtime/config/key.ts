import type { ConfigNode } from './config-node.js';
import type { Mistake, Place, Problems } from './problems.js';
import type { References } from './references.js';

/** A JSON Schema as plain data. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** The context for reading one configuration. */
export interface ReadContext {
  readonly problems: Problems;
  /** Undefined for a configuration built in code, whose texts are taken literally. */
  readonly references: References | undefined;
  /** Folder against which relative paths are resolved. */
  readonly baseDirectory: string;
  /** Values that must be unique, with the position of the first. */
  readonly claims: Map<string, Place>;
  /** The spelling of keys in paths and suggestions. */
  readonly style: KeyStyle;
}

/** The spelling of a source's keys. */
export type KeyStyle = 'kebab-case' | 'camelCase';

/** A value and its position. */
export interface Located {
  readonly node: ConfigNode;
  readonly place: Place;
}

/** All that depends on the type of a key: reading, printing, JSON Schema, and its name in the documentation. */
export interface Kind<Value> {
  readonly type: string;
  readonly schema: ConfigSchema;
  /** The keys below a section, or below each entry of a list. */
  readonly shape?: Shape;
  /** Returns undefined after a problem was reported. */
  read(located: Located, context: ReadContext): Value | undefined;
  /** The value as plain data for the printed configuration; undefined leaves the key out. Default: the value. */
  print?(value: Value): unknown;
}

/** What each key has besides its kind. */
export interface KeyOptions<Value> {
  /** One or two sentences for operators. */
  readonly doc: string;
  readonly required?: true;
  readonly default?: Value;
  /** Whether the documentation lists it first: most configurations set it, or decide about it. */
  readonly main?: true;
}

/**
 * A key of the configuration. Its name is that of its property in the catalogue.
 *
 * - `implied`: an absent section is read as empty.
 * - `lenient`: its section has a value even if this required key was refused.
 */
export type Key<Value> = Kind<Value> &
  KeyOptions<Value> & { readonly implied?: true; readonly lenient?: true };

/** A key whose value is never undefined in a valid configuration. */
export type DefiniteKey<Value> = Key<Value> &
  ({ readonly required: true } | { readonly default: Value } | { readonly implied: true });

export type AnyKeys = Readonly<Record<string, Key<unknown>>>;

/** One key for each property: one that is never undefined is required, or has a default. */
export type KeysOf<Raw> = {
  readonly [Name in keyof Raw]-?: undefined extends Raw[Name]
    ? Key<Exclude<Raw[Name], undefined>>
    : DefiniteKey<Raw[Name]>;
};

/** The keys of a map and, if `named` is set, further sections under names that the user chooses. */
export interface Shape {
  readonly keys: AnyKeys;
  readonly named?: NamedSections | undefined;
  /** Name of the shape's definition in the JSON Schema. Absent: it is written in place. */
  readonly definition?: string | undefined;
  readonly isList?: boolean;
}

/** Sections whose names the user chooses, within a pattern. */
export interface NamedSections {
  /** Suffix of every name, in camelCase. */
  readonly suffix: string;
  /** Maximum number of sections of one map. */
  readonly maximum: number;
  readonly key: Key<unknown>;
}

/** Reports a mistake at the position of a value. */
export function refuse({ problems }: ReadContext, { place }: Located, mistake: Mistake): undefined {
  problems.add(place, mistake);
}
