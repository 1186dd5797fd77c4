/**
 * Every key of the configuration, as data. Validation, suggestions, defaults and the key table of
 * `docs/configuration.md` are all made from these descriptions; nothing else knows a key's name or range.
 */

interface KeyBase {
  /** In camelCase; the kebab-case spelling is derived. */
  readonly name: string;
  /** One or two sentences for the operator. */
  readonly doc: string;
  readonly required?: boolean;
}

export interface TextKey extends KeyBase {
  readonly kind: 'text';
  /** In characters; the shortest is one. */
  readonly maximumLength: number;
  readonly default?: string;
}

export interface DefaultedTextKey extends TextKey {
  readonly default: string;
}

/** A text that is never shown. */
export interface SecretKey extends KeyBase {
  readonly kind: 'secret';
  readonly maximumLength: number;
}

/** A path, resolved against the folder of the configuration file. */
export interface FolderKey extends KeyBase {
  readonly kind: 'folder';
  /** What the path leads to. Default: a folder. */
  readonly target?: 'file';
  readonly default?: string;
}

export interface DefaultedFolderKey extends FolderKey {
  readonly default: string;
}

export interface JdbcUrlKey extends KeyBase {
  readonly kind: 'jdbc-url';
}

/** A whole number, `minimum` and `maximum` included. */
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

/** One word out of a fixed set. */
export interface ChoiceKey<Choice extends string = string> extends KeyBase {
  readonly kind: 'choice';
  readonly choices: readonly Choice[];
  readonly default: Choice;
}

/** A list of words out of a fixed set, each at most once. Default: none. */
export interface ChoicesKey<Choice extends string = string> extends KeyBase {
  readonly kind: 'choices';
  readonly choices: readonly Choice[];
}

/** A list of texts, each at most once. Default: none. */
export interface TextsKey extends KeyBase {
  readonly kind: 'texts';
  readonly maximum: number;
  /** Of each text, in characters. */
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
  /** What every name ends in, in camelCase. */
  readonly suffix: string;
  /** Most sections of one map. */
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
