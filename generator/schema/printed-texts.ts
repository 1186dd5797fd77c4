import { hasSameIds } from './outline.js';

/** A printed declaration. */
export interface PrintedText {
  readonly text: string;
  /** Names that it imports from the runtime. */
  readonly imports: readonly string[];
}

/**
 * Printed descriptors of events and of actions, by declaration. A text stays valid while its declaration is not read
 * again and ids keep their kind: with a shard or without.
 */
export class PrintedTexts {
  #texts = new WeakMap<object, PrintedText>();
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

  of(declaration: object): PrintedText | undefined {
    return this.#texts.get(declaration);
  }

  keep(declaration: object, text: PrintedText): void {
    this.#texts.set(declaration, text);
  }
}
