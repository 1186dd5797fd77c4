import type { ObjectType } from '../../runtime/domain/descriptor.js';
import { camelCase } from '../schema/naming.js';
import type { Emission } from './emission.js';
import { fieldMapCode } from './field-code.js';
import { Call, type Code, Expression } from './print/code.js';
import type { Imports } from './print/imports.js';

/** The type of one response class, declared once for all routes and classes that use it. */
export interface ResponseView {
  /** Local variable. */
  readonly variable: string;
  /** Printed call that creates it. */
  readonly type: string;
}

/** Collects the types of responses while routes are printed. */
export class ResponseTypes {
  readonly #imports: Imports;
  readonly #emission: Emission;
  readonly #views = new Map<ObjectType, ResponseView>();

  constructor(imports: Imports, emission: Emission) {
    this.#imports = imports;
    this.#emission = emission;
  }

  /** Returns the variable that holds a type. */
  of(type: ObjectType): Expression {
    const known = this.#views.get(type);
    if (known !== undefined) return new Expression(known.variable);
    const { doc } = type;
    const name = nameOf(type);
    const fields = fieldMapCode(type.fields, {
      t: this.#imports.runtimeValue('t'),
      use: 'documented',
      types: this.#emission.types,
      // Nested types first: a variable must be declared above its uses.
      variable: (nested): Code => this.of(nested),
    });
    const variable = this.#imports.reserve(responseVariable(type));
    const call = new Call(this.#imports.runtimeValue('objectType'), [{ name, doc, fields }]);
    const text = this.#emission.print(call, 0, `const ${variable} = ;`.length);
    this.#views.set(type, { variable, type: text });
    return new Expression(variable);
  }

  /** All response types, in dependency order: each comes before the types that use it. */
  views(): readonly ResponseView[] {
    return [...this.#views.values()];
  }
}

/** Returns the variable of a response's type, unless the name is taken. */
export function responseVariable(type: ObjectType): string {
  return `${camelCase(nameOf(type))}Type`;
}

function nameOf({ name = 'Response' }: ObjectType): string {
  return name;
}
