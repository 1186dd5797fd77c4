import { hasSameIds } from './outline.js';

/**
 * Printed fields of events and of params, by the declaration that has them: one that was not read again gives the same,
 * as long as ids of models carry shards as before.
 */
export class FieldTexts {
  #texts = new WeakMap<object, string>();
  #outline: string | undefined;
  #areAllNew = false;

  /** Texts were printed, or are going to be, for a project of this outline. Forgets those that it makes wrong. */
  printFor(outline: string): void {
    if (this.#outline !== undefined && !hasSameIds(this.#outline, outline)) {
      this.#texts = new WeakMap();
      this.#areAllNew = true;
    }
    this.#outline = outline;
  }

  /** No text of an earlier process is right any more. */
  get areAllNew(): boolean {
    return this.#areAllNew;
  }

  of(declaration: object): string | undefined {
    return this.#texts.get(declaration);
  }

  keep(declaration: object, text: string): void {
    this.#texts.set(declaration, text);
  }
}
