import { ValidationError } from '../errors.js';
import type { JsonObject, JsonValue } from './json.js';
import { isUnstorable } from './storable-text.js';

/**
 * Verified facts about a caller besides the name: roles, tenants, scopes. An application declares its claims by
 * declaration merging, each one optional, because a principal may have no claims:
 *
 * ```ts
 * declare module 'fw-actions' {
 *   interface Claims {
 *     readonly role?: 'operator';
 *   }
 * }
 * ```
 *
 * Values are JSON. All of them together have at most 4,096 bytes as JSON text.
 */
export interface Claims {
  readonly [claim: string]: JsonValue | undefined;
}

/** The acting principal, as `perform` receives it. */
export interface Principal {
  readonly name: string;
  /** Empty if the caller has none. */
  readonly claims: Claims;
}

/**
 * The acting principal, as `execute` accepts it: a principal, an object with a name, or a function that returns a name.
 */
export type Caller = { readonly name: string; readonly claims?: Claims } | (() => string);

/**
 * Maximum characters of a name: OpenID Connect's limit for a subject, which also fits the index of idempotency keys.
 */
const LONGEST_NAME = 255;

/** Maximum bytes of all claims as JSON text: they are stored with each action. */
const LONGEST_CLAIMS = 4_096;

/** Prefix of the runtime's own names. Callers must not have such names. */
const OWN = 'fw:';

/** Escapes of characters that `jsonb` refuses: NUL and unpaired surrogates. */
const UNSTORABLE_ESCAPE = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;

const NO_CLAIMS: Claims = Object.freeze({});

/** A valid principal: `principalOf` checked it, it was stored, or it is the runtime's own. */
export class KnownPrincipal implements Principal {
  readonly name: string;
  readonly claims: Claims;
  /** The claims as JSON text; undefined if there are none. */
  readonly claimsJson: string | undefined;

  constructor(name: string, claimsJson?: string) {
    this.name = name;
    this.claimsJson = claimsJson;
    // Parsed from the text, so that a later execution by this principal has equal claims.
    this.claims = claimsJson === undefined ? NO_CLAIMS : Object.freeze(JSON.parse(claimsJson) as Claims);
  }

  /** Whether the runtime itself acts, for example for a handler. No caller can have such a name. */
  get isOwn(): boolean {
    return this.name.startsWith(OWN);
  }
}

/** A principal of the runtime: `fw:handler:Mailer` for `handler:Mailer`. No caller can have its name. */
export function ownPrincipal(part: string): KnownPrincipal {
  return new KnownPrincipal(`${OWN}${part}`);
}

/**
 * The principal of an earlier execution, from its stored name, which may be the runtime's own, and its stored claims.
 */
export function storedPrincipal(name: string, claims?: JsonObject | null): KnownPrincipal {
  return new KnownPrincipal(name, claims === undefined || claims === null ? undefined : claimsText(claims));
}

/**
 * Checks a caller. An authenticator that uses one principal for many requests checks it once and returns the result.
 *
 * @throws ValidationError unless the name has 1 to 255 storable characters and does not begin with `fw:`, and the
 *   claims are a storable JSON object of at most 4,096 bytes
 */
export function principalOf(caller: Caller): KnownPrincipal {
  if (caller instanceof KnownPrincipal) return caller;
  if (typeof caller === 'function') return new KnownPrincipal(checkedName(caller()));
  const name = checkedName(caller?.name);
  const { claims } = caller;
  return new KnownPrincipal(name, claims === undefined ? undefined : checkedClaims(claims));
}

/** The caller's name. @throws ValidationError as `principalOf` */
export function principalName(caller: Caller): string {
  return principalOf(caller).name;
}

function checkedName(name: unknown): string {
  if (typeof name !== 'string' || name.length === 0) {
    throw new ValidationError('A principal must have a name');
  }
  if (name.length > LONGEST_NAME) {
    throw new ValidationError(
      `A principal's name has at most ${LONGEST_NAME} characters, got ${name.length}`,
    );
  }
  if (name.startsWith(OWN)) {
    throw new ValidationError(`A principal's name must not begin with ${OWN} (reserved for the runtime)`);
  }
  if (isUnstorable(name)) {
    throw new ValidationError("A principal's name must not contain NUL or half of a surrogate pair");
  }
  return name;
}

/** The JSON text of claims; undefined for none. */
function checkedClaims(claims: unknown): string | undefined {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) {
    throw new ValidationError("A principal's claims must be a JSON object");
  }
  const text = claimsText(claims);
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes > LONGEST_CLAIMS) {
    throw new ValidationError(
      `A principal's claims have at most ${LONGEST_CLAIMS} bytes as JSON, got ${bytes}`,
    );
  }
  if (UNSTORABLE_ESCAPE.test(text)) {
    throw new ValidationError("A principal's claims must not contain NUL or half of a surrogate pair");
  }
  return text;
}

function claimsText(claims: object): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(claims);
  } catch (cause) {
    throw new ValidationError("A principal's claims must be a JSON object", { cause });
  }
  return text === '{}' ? undefined : text;
}
