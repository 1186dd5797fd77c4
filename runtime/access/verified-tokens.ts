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
  /** Maximum cached tokens; the one that was verified first is dropped. 0: every request verifies its token. */
  readonly maximum: number;
  /** Tolerated clock difference, in milliseconds. */
  readonly clockToleranceMs: number;
}

/** Caches verified tokens until they expire, while the issuer's keys are unchanged. Stores digests, not the tokens. */
export class VerifiedTokens {
  readonly #options: VerifiedTokensOptions;
  readonly #known = new Map<string, VerifiedToken>();
  /** Version of the keys with which all cached tokens were verified. */
  #keysVersion: number | undefined;

  constructor(options: VerifiedTokensOptions) {
    this.#options = options;
  }

  /** @param keysVersion version of the current keys; undefined if no keys may be used */
  find(token: string, keysVersion: number | undefined): VerifiedToken | undefined {
    if (keysVersion === undefined || keysVersion !== this.#keysVersion) return undefined;
    const digest = digestOf(token);
    const found = this.#known.get(digest);
    if (found === undefined || this.#isValid(found)) return found;
    this.#known.delete(digest);
    return undefined;
  }

  /** @param keysVersion version of the keys before the verification began; undefined: the token is not cached */
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

/** Tokens are found by digest, so that comparing texts reveals nothing about a token. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
