import type { JsonValue } from '../../runtime/domain/json.js';

/** The JSON Schema of a payload or of a part of it. */
export type Shape = { readonly [keyword: string]: JsonValue };

/** True for a JSON object. */
export function isShape(value: JsonValue | undefined): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The known versions of an event's payload or of an action's params. */
export interface LockedType {
  readonly of: 'event' | 'params' | 'name';
  /** Name of the class. */
  readonly className: string;
  /** By version, from 1 to the current version; undefined for a version that the lock does not contain. */
  readonly versions: readonly (Shape | undefined)[];
}

/** Returns the prefix of a class's emitted types: `ThingSold`, `SettleBillActionParams`. */
export function lockedTypeName({ of, className }: Pick<LockedType, 'of' | 'className'>): string {
  return of === 'event' ? className : `${className}Params`;
}
