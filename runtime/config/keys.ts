/**
 * The types of the configuration's keys. Validation, suggestions, defaults, the JSON Schema and the key table of
 * `docs/configuration.md` are derived from these descriptions; no other code contains a key's name or range.
 */

interface KeyBase {
  /** In camelCase; the kebab-case spelling is derived. */
  readonly name: string;
  /** One or two sentences for operators. */
  readonly doc: string;
  readonly required?: boolean;
}

export interface TextKey extends KeyBase {
  readonly kind: 'text';
  /** In characters. The minimum is one. */
  readonly maximumLength: number;
  readonly default?: string;
}

export interface DefaultedTextKey extends TextKey {
  readonly default: string;
}

/** A text that is never printed. */
export interface SecretKey extends KeyBase {
  readonly kind: 'secret';
  readonly maximumLength: number;
}

/** A path, resolved against the folder of the configuration file. */
export interface FolderKey extends KeyBase {
  readonly kind: 'folder';
  /** Kind of the path's target. Default: a folder. */
  readonly target?: 'file';
  readonly default?: string;
}

export interface DefaultedFolderKey extends FolderKey {
  readonly default: string;
}

export interface JdbcUrlKey extends KeyBase {
  readonly kind: 'jdbc-url';
}

/** An integer from `minimum` to `maximum`, both included. */
export interface IntegerKey extends KeyBase {
  readonly kind: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

export interface DefaultedIntegerKey extends IntegerKey {
  readonly default: number;
}

export interface BooleanKey extends KeyBase {
  readonly kind: 'boolean';
  readonly default: boolean;
}

/** One word of a fixed set. */
export interface ChoiceKey<Choice extends string = string> extends KeyBase {
  readonly kind: 'choice';
  readonly choices: readonly Choice[];
  readonly default: Choice;
}

/** A list of words of a fixed set, each at most once. Default: none. */
export interface ChoicesKey<Choice extends string = string> extends KeyBase {
  readonly kind: 'choices';
  readonly choices: readonly Choice[];
}

/** A list of texts, each at most once. Default: none. */
export interface TextsKey extends KeyBase {
  readonly kind: 'texts';
  readonly maximum: number;
  /** Maximum length of each text, in characters. */
  readonly maximumLength: number;
}

/** A map with known keys and, if `named` is set, further sections under names that the user chooses. */
export interface SectionKey extends KeyBase {
  readonly kind: 'section';
  readonly keys: readonly Key[];
  readonly named?: NamedSections;
}

/** Sections whose names the user chooses, within a pattern. */
export interface NamedSections {
  /** Suffix of every name, in camelCase. */
  readonly suffix: string;
  /** Maximum number of sections of one map. */
  readonly maximum: number;
  readonly doc: string;
  readonly keys: readonly Key[];
}

/** A list of sections. */
export interface ListKey extends KeyBase {
  readonly kind: 'list';
  readonly minimum: number;
  readonly maximum: number;
  readonly keys: readonly Key[];
}

export type Key =
  | TextKey
  | SecretKey
  | FolderKey
  | JdbcUrlKey
  | IntegerKey
  | BooleanKey
  | ChoiceKey
  | ChoicesKey
  | TextsKey
  | SectionKey
  | ListKey;
