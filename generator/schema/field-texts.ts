import { hasSameIds } from './outline.js';

/**
 * Printed fields of events and of params, by declaration. A text stays valid while its declaration is not read again
 * and ids keep their kind: with a shard or without.
 */
export class FieldTexts {
  #texts = new WeakMap<object, string>();
  #outline: string | undefined;
  #areAllNew = false;

  /**
   * Prepares for a project of this outline. Removes all texts if the kind of an id differs from the previous outline.
   */
  printFor(outline: string): void {
    if (this.#outline !== undefined && !hasSameIds(this.#outline, outline)) {
      this.#texts = new WeakMap();
      this.#areAllNew = true;
    }
    this.#outline = outline;
  }

  /** Whether all texts of earlier processes are invalid. */
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
