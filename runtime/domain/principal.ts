import { ValidationError } from '../errors.js';
import type { JsonObject, JsonValue } from './json.js';
import { isUnstorable } from './storable-text.js';

/**
 * What an authenticator vouches for about a caller, beside the name: roles, tenants, scopes. An application declares
 * its own by declaration merging, each one optional, because a principal may come without claims:
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

/** Who acts, as `perform` sees it. */
export interface Principal {
  readonly name: string;
  /** Empty unless the caller has some. */
  readonly claims: Claims;
}

/** Who acts, as `execute` takes it: a principal, an object with a name, or a function that returns a name. */
export type Caller = { readonly name: string; readonly claims?: Claims } | (() => string);

/** Characters of a name: what OpenID Connect allows a subject, and short enough for the index of idempotency keys. */
const LONGEST_NAME = 255;

/** Bytes of all claims as JSON text: they are kept with each action. */
const LONGEST_CLAIMS = 4_096;

/** How names begin that the runtime gives itself. A caller with such a name would pass for a part of the runtime. */
const OWN = 'fw:';

/** What JSON text has for a character that `jsonb` refuses: NUL, or half of a surrogate pair. */
const UNSTORABLE_ESCAPE = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;

const NO_CLAIMS: Claims = Object.freeze({});

/** A principal that has been checked: by `principalOf`, or when it was stored; or the runtime has made it up. */
export class KnownPrincipal implements Principal {
  readonly name: string;
  readonly claims: Claims;
  /** The claims as JSON text; undefined if there are none. */
  readonly claimsJson: string | undefined;

  constructor(name: string, claimsJson?: string) {
    this.name = name;
    this.claimsJson = claimsJson;
    // From the text: a later execution by this principal sees what this one sees.
    this.claims = claimsJson === undefined ? NO_CLAIMS : Object.freeze(JSON.parse(claimsJson) as Claims);
  }

  /** Whether the runtime itself acts: delivery on behalf of a handler, say. No caller can have such a name. */
  get isOwn(): boolean {
    return this.name.startsWith(OWN);
  }
}

/** A part of the runtime as a principal: `fw:handler:Mailer` for `handler:Mailer`. No caller can have its name. */
export function ownPrincipal(part: string): KnownPrincipal {
  return new KnownPrincipal(`${OWN}${part}`);
}

/** The principal of an earlier execution, by its stored name, which may be the runtime's own, and its stored claims. */
export function storedPrincipal(name: string, claims?: JsonObject | null): KnownPrincipal {
  return new KnownPrincipal(name, claims === undefined || claims === null ? undefined : claimsText(claims));
}

/**
 * Checks a caller. An authenticator that gives one principal to many requests checks it once and returns the result.
 *
 * @throws ValidationError unless the name has 1 to 255 characters that can be stored and does not begin with `fw:`, and
 *   the claims are a JSON object of at most 4,096 bytes that can be stored
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
    throw new ValidationError(
      `A principal's name must not begin with ${OWN}: such names are the runtime's own`,
    );
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
