import type { Reference, SourceLocation } from './location.js';

/** The type of a field, with imports and aliases resolved. */
export type TypeSchema =
  /** `brand` for a branded type: `string & { readonly __brand: 'Sku' }`. */
  | { readonly kind: ScalarKind; readonly brand?: Brand }
  /** `sharded` for `ShardedId<Model>`. */
  | { readonly kind: 'id'; readonly model: ModelReference; readonly sharded: boolean }
  /** A union of literals, or an enum; `reference` if its name is exported. Without values it is `never`. */
  | { readonly kind: 'enum'; readonly values: readonly EnumValue[]; readonly reference?: Reference }
  | { readonly kind: 'list'; readonly of: TypeSchema; readonly nullable?: true }
  | { readonly kind: 'tuple'; readonly items: readonly ItemSchema[]; readonly rest?: ItemSchema }
  /** Any keys, values of one type. */
  | { readonly kind: 'record'; readonly of: TypeSchema; readonly nullable?: true }
  /** One of several types that JSON distinguishes; `reference` if its name is exported. */
  | { readonly kind: 'union'; readonly of: readonly TypeSchema[]; readonly reference?: Reference }
  /** A type that contains itself. `again` refers to it by `name`. */
  | { readonly kind: 'recursive'; readonly name: string; readonly of: TypeSchema }
  | {
      readonly kind: 'again';
      readonly name: string;
      /** Literals in fields of the object that this type represents. Undefined: the type is not a member of a union. */
      readonly literals?: LiteralFields;
    }
  /** `name` if it has one, `reference` if that is exported. */
  | {
      readonly kind: 'object';
      readonly fields: readonly FieldSchema[];
      readonly name?: string;
      readonly description?: string;
      readonly reference?: Reference;
    }
  /** A model class; only as the result of an action. */
  | { readonly kind: 'model'; readonly model: ModelReference }
  /** No value: as a result, or as the params of an action without parameters. */
  | { readonly kind: 'void' }
  | UnsupportedType;

/** Literals in required fields of an object, by the field's name. */
export type LiteralFields = Readonly<Record<string, readonly EnumValue[]>>;

/** One value of an enum. */
export type EnumValue = string | number | boolean;

/** One element of a tuple. */
export interface ItemSchema {
  readonly type: TypeSchema;
  readonly nullable?: true;
  readonly optional?: true;
}

/** The name of a branded type. */
export interface Brand {
  /** Undefined: the name is not exported. */
  readonly reference?: Reference;
}

/** Kinds without further properties. */
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

/** A type that neither a row nor a JSON body can contain. */
export interface UnsupportedType {
  readonly kind: 'unsupported';
  /** The type as written. */
  readonly text: string;
  /** What to write instead. */
  readonly hint: string;
  /** Why, behind the name of its field. Default: `is not supported`. */
  readonly cause?: string;
  /** True if the type contains itself. */
  readonly recursive?: true;
  /** True if its values are instances of a class, functions or symbols, so that not even a result is kept. */
  readonly isNotPlain?: true;
}

/** A model class by name and file. */
export interface ModelReference {
  /** Name of the class. */
  readonly name: string;
  /** Stable name in stored data, if its decorator has one. */
  readonly storedName?: string;
  /** Project-relative path of the file that declares it. */
  readonly file: string;
  /** The class carries `@AutoBuilder`, or a mistake reports that it should. */
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
  /** Tags of the types of its parts, such as the items of a list: they are no rules for the field. */
  readonly partTags?: readonly DocTag[];
  readonly location: SourceLocation;
}

/** One tag of a documentation comment: `@maxLength 256`. */
export interface DocTag {
  readonly name: string;
  readonly text: string;
  readonly location: SourceLocation;
  /** Its position does not identify a field. */
  readonly misplaced?: true;
  /** It belongs to the field's type, which other fields share. */
  readonly ofType?: true;
  /** It belongs to the type of a part of the field's type. */
  readonly ofPart?: true;
}

/** Returns the common type of an enum's values; `mixed` if there are several. */
export function enumKind(values: readonly EnumValue[]): 'string' | 'number' | 'boolean' | 'mixed' {
  const [first, ...others] = new Set(values.map((value) => typeof value));
  if (others.length > 0) return 'mixed';
  return first === 'number' || first === 'boolean' ? first : 'string';
}

/** Whether a path or a query string can carry a value of the type. */
export function isScalar({ kind }: TypeSchema): boolean {
  return SCALARS.has(kind);
}

const SCALARS: ReadonlySet<TypeSchema['kind']> = new Set([
  ...(['string', 'number', 'bigint', 'boolean', 'instant', 'decimal', 'uuid', 'currency'] as const),
  ...(['id', 'enum'] as const),
]);
