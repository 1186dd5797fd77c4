import { type LockedType, lockedTypeName } from '../schema/locked-type.js';
import { type Code, Expression } from './print/code.js';
import type { Imports } from './print/imports.js';

/** Project-relative path of the emitted file that holds the types of older versions. */
export function versionsFile(outputFolder: string): string {
  return `${outputFolder}/versions.ts`;
}

/** Name of an emitted type: `ThingSoldV1`, `SettleBillActionParamsUpcasters`. */
export function versionsTypeName(locked: Pick<LockedType, 'of' | 'className'>, end: string): string {
  return `${lockedTypeName(locked)}${end}`;
}

/** The context in which upcasters are printed. */
export interface UpcastersPlace {
  /** Local name of the class. */
  readonly classText: string;
  readonly outputFolder: string;
  readonly imports: Imports;
}

/**
 * Returns the upcasters of a class for its descriptor. An upcaster of another type does not compile.
 *
 * @returns undefined for a class without older versions
 */
export function upcastersCode(
  version: number | undefined,
  locked: Pick<LockedType, 'of' | 'className'>,
  { classText, outputFolder, imports }: UpcastersPlace,
): Code | undefined {
  if (version === undefined || version === 1) return undefined;
  const name = versionsTypeName(locked, 'Upcasters');
  const type = imports.type({ kind: 'file', file: versionsFile(outputFolder), name });
  return new Expression(`${imports.runtimeValue('typedUpcasters')}<${type}>(${classText}.upcasters)`);
}
