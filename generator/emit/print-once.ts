import type { PrintedText } from '../schema/printed-texts.js';
import type { Emission } from './emission.js';
import { type Code, Expression } from './print/code.js';
import type { Imports } from './print/imports.js';

/** A declaration whose code does not change while the declaration does not. */
export interface PrintOnce {
  readonly declaration: object;
  /** Whether other names of its code than those of the runtime are what they are in the sources. */
  readonly hasOwnNames: boolean;
  /** Called only if no earlier run has printed the declaration. */
  readonly code: () => Code;
  /** Spaces before the line on which it begins. */
  readonly indent: number;
  /** Characters on that line around it. */
  readonly lead: number;
}

/** Prints a declaration unless an earlier run has printed it under the same names. */
export function printOnce(
  { declaration, hasOwnNames, code, indent, lead }: PrintOnce,
  emission: Emission,
  imports: Imports,
): Code {
  const texts = hasOwnNames ? emission.printedTexts : undefined;
  const known = texts?.of(declaration);
  if (known !== undefined && importsUnderOwnNames(known, imports)) return new Expression(known.text);
  const { result, names } = imports.trackRuntimeValues(code);
  const printed = emission.part(result, indent, lead);
  if (texts === undefined || !(printed instanceof Expression)) return printed;
  const text = { text: printed.text, imports: names };
  if (importsUnderOwnNames(text, imports)) texts.keep(declaration, text);
  return printed;
}

function importsUnderOwnNames({ imports: names }: PrintedText, imports: Imports): boolean {
  return names.every((name) => imports.runtimeValue(name) === name);
}
