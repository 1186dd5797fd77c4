import type { JsonValue } from './json-value.js';

/** The JSON Schema of a payload, or of a part of one. */
export type Shape = { readonly [keyword: string]: JsonValue };

/** Everything that is known of the versions of one event's payload, or of one action's params. */
export interface LockedType {
  readonly of: 'event' | 'params';
  /** Name of the class. */
  readonly className: string;
  /** Project-relative path of its file. */
  readonly file: string;
  /** By version, from 1 up to the present one; undefined for one that the lock does not know. */
  readonly versions: readonly (Shape | undefined)[];
}

/** What the emitted types of a class begin with: `ThingSold`, `SettleBillActionParams`. */
export function lockedTypeName({ of, className }: Pick<LockedType, 'of' | 'className'>): string {
  return of === 'event' ? className : `${className}Params`;
}
