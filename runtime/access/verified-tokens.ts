import { hash } from 'node:crypto';
import { time } from '../concurrency/time.js';
import type { KnownPrincipal } from '../domain/principal.js';

/** A token whose signature and claims have been checked. */
export interface VerifiedToken {
  readonly principal: () => KnownPrincipal;
  /** `exp`, in seconds since 1970. */
  readonly expires: number;
}

/** Options of `VerifiedTokens`. */
export interface VerifiedTokensOptions {
  /** Beyond, the token that was verified first is forgotten. 0: every request verifies its token. */
  readonly maximum: number;
  /** By how much clocks may differ, in milliseconds. */
  readonly clockToleranceMs: number;
}

/**
 * Tokens that need no second verification: until they expire, and as long as the keys are those that they were verified
 * with. Their digests are kept, not the tokens.
 */
export class VerifiedTokens {
  readonly #options: VerifiedTokensOptions;
  readonly #known = new Map<string, VerifiedToken>();
  /** Of the keys that all of them were verified with. */
  #keysVersion: number | undefined;

  constructor(options: VerifiedTokensOptions) {
    this.#options = options;
  }

  /** @param keysVersion of the keys in use; undefined: there are none that may be used */
  find(token: string, keysVersion: number | undefined): VerifiedToken | undefined {
    if (keysVersion === undefined || keysVersion !== this.#keysVersion) return undefined;
    const digest = digestOf(token);
    const found = this.#known.get(digest);
    if (found === undefined || this.#isValid(found)) return found;
    this.#known.delete(digest);
    return undefined;
  }

  /** @param keysVersion of the keys in use before the verification began; undefined: nothing is remembered */
  add(token: string, verified: VerifiedToken, keysVersion: number | undefined): void {
    if (this.#options.maximum === 0 || keysVersion === undefined) return;
    if (keysVersion !== this.#keysVersion) this.#known.clear();
    this.#keysVersion = keysVersion;
    this.#known.set(digestOf(token), verified);
    const [first] = this.#known.keys();
    if (this.#known.size > this.#options.maximum && first !== undefined) this.#known.delete(first);
  }

  #isValid({ expires }: VerifiedToken): boolean {
    return expires * 1_000 > time.dateMs() - this.#options.clockToleranceMs;
  }
}

/** Found by a digest, so that comparing texts reveals nothing about a token. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
