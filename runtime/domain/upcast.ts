import { messageOf, ValidationError } from '../errors.js';
import type { Upcaster } from './descriptor.js';
import type { JsonObject } from './json.js';

/** A stored form with versions: an event's payload, or the params of an action. */
export interface Versioned {
  /** Name in messages: `AccountCredited`. */
  readonly name: string;
  /** Version that this process writes. Default 1. */
  readonly version?: number;
  /** From version 1 on. Default: the static `upcasters` of `owner`, if any. */
  readonly upcasters?: readonly Upcaster[];
}

/**
 * The upcasters that lead to the current version.
 *
 * @param owner the class
 * @throws ValidationError if there are fewer upcasters than older versions
 */
export function requireUpcasters(versioned: Versioned, owner: () => object): readonly Upcaster[] {
  const { name, version = 1 } = versioned;
  if (version === 1) return [];
  const upcasters = versioned.upcasters ?? staticUpcasters(owner());
  if (upcasters.length >= version - 1) return upcasters;
  throw new ValidationError(
    `${name} has version ${version} and ${upcasters.length} upcasters; each older version needs one`,
  );
}

function staticUpcasters(owner: object): readonly Upcaster[] {
  const upcasters: unknown = 'upcasters' in owner ? owner.upcasters : undefined;
  return Array.isArray(upcasters) ? upcasters : [];
}

/**
 * Converts a stored payload to the current version, one step after the other.
 *
 * @param upcasters the result of `requireUpcasters`
 * @throws ValidationError that names the version whose upcaster threw (the error is the `cause`), is missing, or did
 *   not return an object
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

/** Upcasters belong to the application, and some are not type-checked. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Accepts upcasters of the types that `fw-gen` emits from the lock. With such a type as the type argument, a list that
 * does not match it does not compile.
 */
export function typedUpcasters<Steps extends readonly TypedUpcaster[]>(steps: Steps): readonly Upcaster[] {
  // Each upcaster receives the stored form of the previous version, which is the type of its parameter.
  return steps as unknown as readonly Upcaster[];
}

/** Converts the params or the payload of one version to the next. */
type TypedUpcaster = (stored: never) => object;
