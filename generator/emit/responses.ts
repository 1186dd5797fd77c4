import type { FieldType, ObjectType } from '../../runtime/domain/descriptor.js';
import { partsOf } from '../../runtime/domain/kinds/kinds.js';
import { camelCase } from '../schema/naming.js';
import { type FieldView, fieldViews } from './field-code.js';
import type { FileScope } from './file-scope.js';
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
  readonly #scope: FileScope;
  readonly #shared: ReadonlyMap<ObjectType, string>;
  readonly #file: string;
  readonly #own = new Map<ObjectType, ResponseView>();

  /** @param shared constants of another file @param file path of the other file */
  constructor(scope: FileScope, shared: ReadonlyMap<ObjectType, string>, file: string) {
    this.#scope = scope;
    this.#shared = shared;
    this.#file = file;
  }

  /** Returns the constant that holds a type. */
  of(type: ObjectType): string {
    const shared = this.#shared.get(type);
    if (shared !== undefined) return this.#scope.value({ kind: 'file', file: this.#file, name: shared });
    const known = this.#own.get(type);
    if (known !== undefined) return known.variable;
    this.#scope.runtimeValue('objectType');
    this.#scope.runtimeType('ObjectType');
    const { doc, name = 'Response' } = type;
    const fields = fieldViews(type.fields, {
      scope: this.#scope,
      use: 'documented',
      // Nested types first: a constant must be declared above its uses.
      variable: (nested) => this.of(nested),
    });
    const variable = this.#scope.reserve(`${camelCase(name)}Type`);
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
