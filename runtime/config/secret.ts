import { inspect } from 'node:util';
import type { Secret } from './types.js';

/** The printed form of a secret. */
const MASK = '***';

/** The only implementation of {@link Secret}: printing, logging, JSON and template strings return `***`. */
export class SecretText implements Secret {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
    // Defined here and not as a method, so that the declared type does not contain it.
    Object.defineProperty(this, inspect.custom, { value: () => MASK });
    Object.freeze(this);
  }

  static of(text: string): SecretText {
    return new SecretText(text);
  }

  /** The text itself. Call it only where the text is used, and keep no copy. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }
}
