import type { FieldSchema } from '../schema/type-schema.js';
import type { Emission } from './emission.js';
import { type FieldUse, fieldMapCode } from './field-code.js';
import { Call, type Code, Expression, type Members } from './print/code.js';
import type { Imports } from './print/imports.js';

/** The member of a literal that holds fields. */
export interface OwnFields {
  readonly key: 'params' | 'fields';
  /** What the literal describes. */
  readonly declaration: object;
  /** Its fields. They are looked at only if no earlier run has printed them. */
  readonly fields: () => readonly FieldSchema[];
  readonly use: FieldUse;
  /** Function of the runtime that is given them. Default: none. */
  readonly callee?: string;
}

/**
 * All fields of a declaration, printed once for the literal of an action or of an event in a list, which begins two
 * spaces from the margin.
 *
 * @returns undefined if there are none
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

/** The same for any place. */
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

/** Imports what fields are printed with. @returns whether it has its own names in the file */
function hasUsualNames({ callee }: OwnFields, imports: Imports): boolean {
  const names = callee === undefined ? ['t'] : ['t', callee];
  return names.every((name) => imports.runtimeValue(name) === name);
}
