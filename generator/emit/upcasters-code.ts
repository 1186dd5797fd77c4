import { type LockedType, lockedTypeName } from '../schema/locked-type.js';
import type { FileScope } from './file-scope.js';

/** Project-relative path of the emitted file that holds the types of older versions. */
export function versionsFile(outputFolder: string): string {
  return `${outputFolder}/versions.ts`;
}

/** Name of an emitted type: `ThingSoldV1`, `SettleBillActionParamsUpcasters`. */
export function versionsTypeName(locked: Pick<LockedType, 'of' | 'className'>, end: string): string {
  return `${lockedTypeName(locked)}${end}`;
}

/**
 * Returns the upcasters of a class for its descriptor, or '' for a class without older versions. An upcaster of another
 * type does not compile.
 *
 * @param classText local name of the class
 */
export function upcastersText(
  version: number | undefined,
  locked: Pick<LockedType, 'of' | 'className'>,
  classText: string,
  scope: FileScope,
): string {
  if (version === undefined || version === 1) return '';
  const name = versionsTypeName(locked, 'Upcasters');
  const type = scope.type({ kind: 'file', file: versionsFile(scope.emission.paths.output), name });
  return `${scope.runtimeValue('typedUpcasters')}<${type}>(${classText}.upcasters)`;
}
