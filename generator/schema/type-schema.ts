import type { Reference, SourceLocation } from './location.js';

/** The type of a field as the source spells it, resolved through imports and aliases. */
export type TypeSchema =
  /** `brand` if the source types it as more than its base: `string & { readonly __brand: 'Sku' }`. */
  | { readonly kind: ScalarKind; readonly brand?: Brand }
  /** `sharded`: spelled `ShardedId<Model>`. */
  | { readonly kind: 'id'; readonly model: ModelReference; readonly sharded: boolean }
  /** A union of literals or an enum; `reference` if it has an exported name. Without values it is `never`. */
  | { readonly kind: 'enum'; readonly values: readonly EnumValue[]; readonly reference?: Reference }
  | { readonly kind: 'list'; readonly of: TypeSchema; readonly nullable?: true }
  | { readonly kind: 'tuple'; readonly items: readonly ItemSchema[]; readonly rest?: ItemSchema }
  /** Any keys, values of one type. */
  | { readonly kind: 'record'; readonly of: TypeSchema; readonly nullable?: true }
  /** One of several types that are distinguishable in JSON; `reference` if it has an exported name. */
  | { readonly kind: 'union'; readonly of: readonly TypeSchema[]; readonly reference?: Reference }
  /** A type that contains itself, by the name that `again` has for it. */
  | { readonly kind: 'recursive'; readonly name: string; readonly of: TypeSchema }
  | {
      readonly kind: 'again';
      readonly name: string;
      /** Literals in fields of the object that this type represents. Absent: the type is not a member of a union. */
      readonly literals?: LiteralFields;
    }
  /** `name` and `reference` if it has a (exported) name. */
  | {
      readonly kind: 'object';
      readonly fields: readonly FieldSchema[];
      readonly name?: string;
      readonly description?: string;
      readonly reference?: Reference;
    }
  /** A model class: as the result of an action only. */
  | { readonly kind: 'model'; readonly model: ModelReference }
  /** No value: as a result, or for an action without parameters. */
  | { readonly kind: 'void' }
  | UnsupportedType;

/** Literals in required fields of an object, by the field's name. */
export type LiteralFields = Readonly<Record<string, readonly EnumValue[]>>;

/** One value of an enum. */
export type EnumValue = string | number | boolean;

/** One place of a tuple. */
export interface ItemSchema {
  readonly type: TypeSchema;
  readonly nullable?: true;
  readonly optional?: true;
}

/** What a branded type is called. */
export interface Brand {
  /** Absent: it has no exported name. */
  readonly reference?: Reference;
}

/** Kinds that need no more words. */
export type ScalarKind =
  | 'string'
  | 'number'
  | 'bigint'
  | 'boolean'
  | 'instant'
  | 'decimal'
  | 'uuid'
  | 'currency'
  | 'json';

/** Anything that a row or a JSON body cannot hold as such. */
export interface UnsupportedType {
  readonly kind: 'unsupported';
  /** The type as written. */
  readonly text: string;
  /** What to write instead. */
  readonly hint: string;
  /** True if the type contains itself. */
  readonly recursive?: true;
}

/** A model class by name and file. */
export interface ModelReference {
  readonly name: string;
  /** Project-relative path of the file that declares it. */
  readonly file: string;
  /** The class carries `@AutoBuilder`. */
  readonly marked: boolean;
}

/** One field of a model, event, params or response. */
export interface FieldSchema {
  readonly name: string;
  readonly type: TypeSchema;
  /** May be absent: `name?: T`. */
  readonly optional: boolean;
  /** May be null: `name: T | null`. */
  readonly nullable: boolean;
  /** First paragraphs of its documentation comment. */
  readonly description?: string;
  readonly tags: readonly DocTag[];
  readonly location: SourceLocation;
}

/** One tag of a documentation comment: `@maxLength 256`. */
export interface DocTag {
  readonly name: string;
  readonly text: string;
  readonly location: SourceLocation;
  /** Its position does not identify a field. */
  readonly misplaced?: true;
}

/** What all values of an enum are; `mixed` if they differ in that. */
export function enumKind(values: readonly EnumValue[]): 'string' | 'number' | 'boolean' | 'mixed' {
  const [first, ...others] = new Set(values.map((value) => typeof value));
  return others.length > 0 || (first !== 'number' && first !== 'boolean') ? stringOrMixed(others) : first;
}

function stringOrMixed(others: readonly string[]): 'string' | 'mixed' {
  return others.length === 0 ? 'string' : 'mixed';
}

/** True for a type that one text can carry: in a path or a query string. */
export function isScalar(type: TypeSchema): boolean {
  switch (type.kind) {
    case 'list':
    case 'tuple':
    case 'record':
    case 'union':
    case 'recursive':
    case 'again':
    case 'object':
    case 'json':
    case 'model':
    case 'void':
    case 'unsupported':
      return false;
    default:
      return true;
  }
}
