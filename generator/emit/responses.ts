import type { FieldType, ObjectType } from '../../runtime/domain/descriptor.js';
import { partsOf } from '../../runtime/domain/kinds/kinds.js';
import { camelCase } from '../schema/naming.js';
import type { Emission } from './emission.js';
import { type FieldView, fieldViews } from './field-code.js';
import type { Imports } from './print/imports.js';
import { quote } from './print/strings.js';

/** View of `partials/response.hbs`: the type of one response class. */
export interface ResponseView {
  /** Name of the constant. */
  readonly variable: string;
  /** Name of the class, quoted. */
  readonly name: string;
  /** Its description, quoted, or ''. */
  readonly doc: string;
  readonly fields: readonly FieldView[];
}

/** The constants of response types in one file. */
export class Responses {
  readonly #emission: Emission;
  readonly #imports: Imports;
  readonly #shared: ReadonlyMap<ObjectType, string>;
  readonly #file: string;
  readonly #own = new Map<ObjectType, ResponseView>();

  /** @param shared constants of another file @param file path of the other file */
  constructor(emission: Emission, imports: Imports, shared: ReadonlyMap<ObjectType, string>, file: string) {
    this.#emission = emission;
    this.#imports = imports;
    this.#shared = shared;
    this.#file = file;
  }

  /** Returns the constant that holds a type. */
  of(type: ObjectType): string {
    const shared = this.#shared.get(type);
    if (shared !== undefined) return this.#imports.value({ kind: 'file', file: this.#file, name: shared });
    const known = this.#own.get(type);
    if (known !== undefined) return known.variable;
    this.#imports.runtimeValue('objectType');
    this.#imports.runtimeType('ObjectType');
    const { doc, name = 'Response' } = type;
    const fields = fieldViews(type.fields, {
      emission: this.#emission,
      imports: this.#imports,
      use: 'documented',
      // Nested types first: a constant must be declared above its uses.
      variable: (nested) => this.of(nested),
    });
    const variable = this.#imports.reserve(`${camelCase(name)}Type`);
    const view = { variable, name: quote(name), doc: doc === undefined ? '' : quote(doc), fields };
    this.#own.set(type, view);
    return variable;
  }

  /** The types declared in this file, in dependency order. */
  get views(): readonly ResponseView[] {
    return [...this.#own.values()];
  }

  /** The constants of this file. */
  get variables(): ReadonlyMap<ObjectType, string> {
    return new Map([...this.#own].map(([type, { variable }]) => [type, variable]));
  }
}

/** Adds a type's named objects, and those that contain them, which have constants of their own. */
export function addNamedObjects(type: FieldType, found: Set<ObjectType>): void {
  if (type.kind === 'object' && type.name !== undefined) {
    if (found.has(type)) return;
    found.add(type);
  }
  for (const part of partsOf(type)) addNamedObjects(part, found);
}
