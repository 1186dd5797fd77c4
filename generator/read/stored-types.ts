import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';

/** A store for texts of results. Most runs read few of them. */
export interface ResultTexts {
  /** Stores a text. @returns its place, without white space */
  add(text: string): string;
  /** @throws LostResultError if the text is missing or damaged */
  get(place: string): string;
}

/** A field as it is stored: a named object type is stored once, and its fields refer to its place. */
export interface StoredField extends Omit<FieldSchema, 'type'> {
  readonly type: StoredType;
}

type StoredType =
  | Exclude<TypeSchema, { readonly kind: 'list' | 'record' }>
  | StoredCollection<'list'>
  | StoredCollection<'record'>
  | { readonly kind: 'stored'; readonly place: string };

interface StoredCollection<Kind> {
  readonly kind: Kind;
  readonly of: StoredType;
  readonly nullable?: true;
}

/** The named object types of one run's results. Declarations share them: a type that is read once is one object. */
export class StoredTypes {
  readonly #texts: ResultTexts;
  readonly #places = new Map<TypeSchema, string>();
  readonly #types = new Map<string, TypeSchema>();

  constructor(texts: ResultTexts) {
    this.#texts = texts;
  }

  store(fields: readonly FieldSchema[]): readonly StoredField[] {
    return fields.map((field) => {
      const type = this.#storedType(field.type);
      return type === field.type ? field : { ...field, type };
    });
  }

  /** Restores fields from `store`. @throws LostResultError */
  restore(fields: readonly StoredField[]): readonly FieldSchema[] {
    return fields.map((field) => ({ ...field, type: this.#restoredType(field.type) }));
  }

  #storedType(type: TypeSchema): StoredType {
    if (type.kind === 'list' || type.kind === 'record') {
      const of = this.#storedType(type.of);
      return of === type.of ? type : { ...type, of };
    }
    if (type.kind !== 'object' || type.name === undefined) return type;
    let place = this.#places.get(type);
    if (place === undefined) {
      place = this.#texts.add(JSON.stringify({ ...type, fields: this.store(type.fields) }));
      this.#places.set(type, place);
    }
    return { kind: 'stored', place };
  }

  #restoredType(type: StoredType): TypeSchema {
    if (type.kind === 'list' || type.kind === 'record') return { ...type, of: this.#restoredType(type.of) };
    if (type.kind !== 'stored') return type;
    let restored = this.#types.get(type.place);
    if (restored === undefined) {
      restored = this.#parse(this.#texts.get(type.place));
      this.#types.set(type.place, restored);
    }
    return restored;
  }

  #parse(text: string): TypeSchema {
    const type: Extract<TypeSchema, { kind: 'object' }> & { readonly fields: readonly StoredField[] } =
      JSON.parse(text);
    return { ...type, fields: this.restore(type.fields) };
  }
}
