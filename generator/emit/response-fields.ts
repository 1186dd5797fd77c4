import { camelCase } from '../schema/naming.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import type { Emission } from './emission.js';
import { fieldDescriptors } from './field-type.js';
import { type Code, Expression } from './print/code.js';
import type { Imports } from './print/imports.js';

/** The fields of one response class, said once however many routes and other classes use it. */
export interface ResponseView {
  /** Name of the class. */
  readonly class: string;
  /** Local variable. */
  readonly variable: string;
  /** Printed list of field descriptors. */
  readonly fields: string;
}

interface ResponseClass {
  readonly name: string;
  readonly file: string;
  readonly fields: readonly FieldSchema[];
}

/** Collects response classes while routes are printed. */
export class ResponseFields {
  readonly #imports: Imports;
  readonly #emission: Emission;
  readonly #views = new Map<string, ResponseView>();

  constructor(imports: Imports, emission: Emission) {
    this.#imports = imports;
    this.#emission = emission;
  }

  /** The variable that holds a class's fields. */
  of({ name, file, fields }: ResponseClass): Expression {
    const key = `${file}#${name}`;
    const known = this.#views.get(key);
    if (known !== undefined) return new Expression(known.variable);
    // Nested classes first: a variable must stand above its uses.
    const list = fieldDescriptors(fields, this.#emission.isSharded, (type) => this.#nested(type));
    const variable = this.#imports.reserve(`${camelCase(name)}Fields`);
    const lead = `const ${variable}: readonly FieldDescriptor[] = ;`.length;
    this.#views.set(key, { class: name, variable, fields: this.#emission.print(list, 0, lead) });
    return new Expression(variable);
  }

  /** All of them, each above those that use it. */
  views(): readonly ResponseView[] {
    return [...this.#views.values()];
  }

  #nested({ name, reference, fields }: Extract<TypeSchema, { kind: 'object' }>): Code | undefined {
    return name !== undefined && reference?.kind === 'file'
      ? this.of({ name, file: reference.file, fields })
      : undefined;
  }
}
