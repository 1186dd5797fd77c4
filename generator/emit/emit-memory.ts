import type { ModelSchema } from '../schema/project-schema.js';

/** Texts of earlier runs, by the model that gave them: a model that was not read again gives the same text. */
export class EmitMemory {
  readonly #texts = new WeakMap<ModelSchema, { readonly key: string; readonly text: string }>();

  /** @param key everything else that the text hangs on */
  textOf(model: ModelSchema, key: string, render: () => string): string {
    const known = this.#texts.get(model);
    if (known?.key === key) return known.text;
    const text = render();
    this.#texts.set(model, { key, text });
    return text;
  }
}
