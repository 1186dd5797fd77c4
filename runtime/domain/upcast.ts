import { messageOf, ValidationError } from '../errors.js';
import type { Upcaster } from './descriptor.js';
import type { JsonObject } from './json.js';

/** Something whose stored form has versions: an event's payload, or the params of an action. */
export interface Versioned {
  /** Names it in messages: `AccountCredited`. */
  readonly name: string;
  /** Version that this process writes. Default 1. */
  readonly version?: number;
  /** From version 1 on. Default: the static `upcasters` of `owner`, if it has any. */
  readonly upcasters?: readonly Upcaster[];
}

/**
 * The upcasters that lead to the present version.
 *
 * @param owner the class
 * @throws ValidationError if there are fewer than older versions
 */
export function requireUpcasters(versioned: Versioned, owner: () => object): readonly Upcaster[] {
  const { name, version = 1 } = versioned;
  if (version === 1) return [];
  const upcasters = versioned.upcasters ?? staticUpcasters(owner());
  if (upcasters.length >= version - 1) return upcasters;
  throw new ValidationError(
    `${name} has version ${version} and ${upcasters.length} upcasters; one is needed for each older version`,
  );
}

function staticUpcasters(owner: object): readonly Upcaster[] {
  const upcasters: unknown = 'upcasters' in owner ? owner.upcasters : undefined;
  return Array.isArray(upcasters) ? upcasters : [];
}

/**
 * Brings a stored payload up to the present version, one step after the other.
 *
 * @param upcasters as `requireUpcasters` gave them
 * @throws ValidationError that names the version whose upcaster has thrown, with what it threw as `cause`; or is
 *   missing, or has returned no object: what it was given must not pass for a newer version
 */
export function upcast(
  { name, version: present = 1 }: Versioned,
  upcasters: readonly Upcaster[],
  stored: { readonly version: number; readonly payload: JsonObject },
): JsonObject {
  let { payload } = stored;
  for (let version = stored.version; version < present; version += 1) {
    const upcaster = upcasters[version - 1];
    if (upcaster === undefined) throw new ValidationError(`${name} has no upcaster from version ${version}`);
    const failed = `The upcaster of ${name} from version ${version} has failed`;
    let next: unknown;
    try {
      next = upcaster(payload);
    } catch (cause) {
      throw new ValidationError(`${failed}: ${messageOf(cause)}`, { cause });
    }
    if (!isObject(next)) throw new ValidationError(`${failed}: it returned no object`);
    payload = next;
  }
  return payload;
}

/** Upcasters are the application's, and not all of them are compiled. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Takes upcasters of the types that `fw-gen` emits from the lock. The type argument is such a type: a list that does
 * not fit it does not compile.
 */
export function typedUpcasters<Steps extends readonly TypedUpcaster[]>(steps: Steps): readonly Upcaster[] {
  // Each step is given what the version before it has stored, which is what its type says.
  return steps as unknown as readonly Upcaster[];
}

/** Makes params or a payload of the next version from those of one version. */
export type TypedUpcaster = (stored: never) => object;
