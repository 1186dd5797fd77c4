import type { FieldSchema } from '../schema/type-schema.js';
import type { Emission } from './emission.js';
import { type FieldUse, fieldMapCode } from './field-code.js';
import { Call, type Code, Expression, type Members } from './print/code.js';
import type { Imports } from './print/imports.js';

/** The property of a literal that contains fields. */
export interface OwnFields {
  readonly key: 'params' | 'fields';
  /** The declaration whose fields are printed. */
  readonly declaration: object;
  /** Called only if no earlier run has printed the fields. */
  readonly fields: () => readonly FieldSchema[];
  readonly use: FieldUse;
  /** Function of the runtime that takes the fields. Default: none. */
  readonly callee?: string;
}

/**
 * Returns all fields of a declaration, printed once. The literal of an action or of a listed event begins two spaces
 * from the margin.
 *
 * @returns undefined if there are no fields
 */
export function ownFieldsCode(own: OwnFields, emission: Emission, imports: Imports): Code | undefined {
  const { fieldTexts: texts } = emission;
  const known = texts?.of(own.declaration);
  if (known !== undefined && hasUsualNames(own, imports)) return new Expression(known);
  const code = fieldsCode(own, emission, imports);
  if (code === undefined || !hasUsualNames(own, imports)) return code;
  const printed = emission.part(code, 4, own.key.length + ': ,'.length);
  if (printed instanceof Expression) texts?.keep(own.declaration, printed.text);
  return printed;
}

/** Returns the fields for any place, without the cache of earlier runs. */
export function fieldsCode(
  { fields, use, callee }: OwnFields,
  { types }: Emission,
  imports: Imports,
): Code | undefined {
  const all = fields();
  if (all.length === 0) return undefined;
  const map: Members = fieldMapCode(
    all.map((field) => types.field(field)),
    { t: imports.runtimeValue('t'), use, types },
  );
  return callee === undefined ? map : new Call(imports.runtimeValue(callee), [map]);
}

/** Imports the functions that fields are printed with. @returns whether their local names equal their own names */
function hasUsualNames({ callee }: OwnFields, imports: Imports): boolean {
  const names = callee === undefined ? ['t'] : ['t', callee];
  return names.every((name) => imports.runtimeValue(name) === name);
}
