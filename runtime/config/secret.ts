import { inspect } from 'node:util';
import type { Secret } from './types.js';

/** What a secret shows wherever it is printed. */
const MASK = '***';

/** The one implementation of {@link Secret}: printing, logging, JSON and template strings all give `***`. */
export class SecretText implements Secret {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
    // Defined here and not as a method, so that it is no part of the declared type.
    Object.defineProperty(this, inspect.custom, { value: () => MASK });
    Object.freeze(this);
  }

  static of(text: string): SecretText {
    return new SecretText(text);
  }

  /** The text itself. Call it only where the text is handed over, and keep no copy. */
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
